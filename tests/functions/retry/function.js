function OnUpdate(doc, meta) {
  if (meta.id === 'gate') {
    dst[meta.id] = doc;
    return;
  }
  dst[meta.id] = {of: doc};
  if (!dst['gate']) {
    throw new RangeError('the gate is closed');
  }
}

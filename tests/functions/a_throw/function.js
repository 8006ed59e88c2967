function OnUpdate(doc, meta) {
  dst[meta.id] = doc;
  if (doc === 2) {
    throw new Error('two');
  }
}

function OnUpdate(doc, meta) {
  dst[meta.id] = doc;
}

function OnUpdate(doc, meta) {
  dst[meta.id] = {limit: most + 1, name, twice: twice(doc)};
}

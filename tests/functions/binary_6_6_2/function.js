function OnUpdate(doc, meta) {
  log(meta.datatype, doc instanceof ArrayBuffer, doc.byteLength);
  dst[meta.id] = doc;
  dst['length'] = new Uint8Array(dst[meta.id]).length;
}

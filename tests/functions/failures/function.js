function OnUpdate(doc, meta) {
  dst[meta.id] = doc;
  if (doc.n === 1) {
    null.length;
  }
  const rows = SELECT 1 AS one; doc.n.toFixed();
}
function OnDelete(meta) {
  throw new Error('gone: ' + meta.id);
}

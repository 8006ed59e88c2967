function OnUpdate(doc, meta, xattrs) {
  dst[meta.id] = {doc, op: meta.op, xattrs};
}
function OnDelete(meta, options) {
  dst[`gone::${meta.id}`] = {options, datatype: meta.datatype};
}

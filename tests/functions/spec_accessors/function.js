function OnUpdate(doc, meta) {
  // Assuming 'dest' is a bucket alias binding
  var val = dest[meta.id];           // this is a bucket GET operation.
  dest[val.parent] = {"status":3};   // this is a bucket SET operation.
  delete dest[meta.id];             // this is a bucket DEL operation.
}

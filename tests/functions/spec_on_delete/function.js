function OnDelete(meta, options) {
  if (options.expired) log("Document expired", meta.id);
  var addr = meta.id;
  var res = SELECT id from orders WHERE shipaddr = $addr;
  for (var id of res) {
    log("Address invalidated for pending order: " + id);
    log(id);
  }
}

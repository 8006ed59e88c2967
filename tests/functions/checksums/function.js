function message(what) {
  try {
    return what();
  } catch (error) {
    return error.toString();
  }
}
function OnUpdate(doc, meta) {
  log(crc64('hello'), crc64({a: 1, b: 2}), crc64({b: 2, a: 1}), crc64({}), crc64(''));
  log(couchbase.crc_64_go_iso('hello'), couchbase.crc_64_go_iso([1, 2, 3, 4]), couchbase.crc_64_go_iso(null));
  log(crc64(undefined), couchbase.crc_64_go_iso(undefined), couchbase.crc_64_go_iso(Symbol('s')), crc64(() => 1));
  log(message(() => crc64()));
  log(message(() => couchbase.crc_64_go_iso()));
}

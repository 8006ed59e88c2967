function message(what) {
  try {
    return what();
  } catch (error) {
    return error.toString();
  }
}
function OnUpdate(doc, meta) {
  log(couchbase.base64Encode('hello'), couchbase.base64Decode('aGVsbG8='));
  log(couchbase.base64Encode(new Uint8Array([0, 255]).buffer));
  const vector = couchbase.base64Float32ArrayEncode([0.5, -1]);
  log(vector, couchbase.base64Float32ArrayDecode(vector));
  log(couchbase.base64Encode(undefined), couchbase.base64Encode(() => 1), couchbase.base64Encode(Symbol('s')),
    couchbase.base64Encode(null));
  log(message(() => couchbase.base64Encode(1n)));
  log(message(() => couchbase.base64Decode(7)));
  log(message(() => couchbase.base64Float32ArrayEncode('abc')));
  log(message(() => couchbase.base64Float64ArrayDecode(null)));
}

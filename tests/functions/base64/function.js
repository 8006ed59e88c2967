function OnUpdate(doc, meta) {
  log(couchbase.base64Encode('hello'), couchbase.base64Decode('aGVsbG8='));
  log(couchbase.base64Encode(new Uint8Array([0, 255]).buffer));
  const vector = couchbase.base64Float32ArrayEncode([0.5, -1]);
  log(vector, couchbase.base64Float32ArrayDecode(vector));
}

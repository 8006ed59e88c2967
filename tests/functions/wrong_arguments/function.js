function message(what) {
  try {
    return what();
  } catch (error) {
    return error.toString();
  }
}
function OnUpdate(doc, meta) {
  log(message(() => couchbase.get(dst)));
  log(message(() => couchbase.increment(dst)));
  log(message(() => couchbase.get(undefined, {id: 'a'})));
  log(message(() => couchbase.get({}, {id: 'a'})));
  log(message(() => couchbase.get(dst, 'a')));
  log(message(() => couchbase.get(dst, {})));
  log(message(() => couchbase.replace(dst, {id: 'a', cas: 1}, 1)));
  log(message(() => couchbase.upsert(dst, {id: 'a', expiry_date: 1}, 1)));
  log(message(() => couchbase.mutateIn(dst, {id: 'a'}, couchbase.MutateInSpec.remove('x'))));
  log(message(() => couchbase.lookupIn(dst, {id: 'a'}, [couchbase.MutateInSpec.remove('x')])));
  log(message(() => { dst['a'] = undefined; }));
  log(message(() => { dst['a'] = () => 1; }));
  log(message(() => { dst['a'] = Symbol('a'); }));
  log(message(() => { dst[Symbol('a')] = 1; }));
  log(message(() => { delete dst[Symbol('a')]; }));
  log(message(() => couchbase.get(dst, {id: undefined})));
  log(message(() => couchbase.get(dst, {id: ''})));
  log(message(() => couchbase.insert(dst, {id: 'a'}, () => 1)));
  log(message(() => couchbase.get(dst, {id: 'a'}, undefined)));
  log(message(() => couchbase.get(dst, {id: 'a'}, {cache: 1})));
  log(message(() => couchbase.upsert(dst, {id: 'a'}, 1, {self_recursion: 'yes'})));
  // What a call does not read of meta is not looked at.
  log(message(() => couchbase.get(dst, {id: 'a', cas: 1, expiry_date: 1})));
  log(message(() => couchbase.upsert(dst, {id: 'b', cas: 1}, 1).success));
  log(message(() => couchbase.delete(dst, {id: 'b', expiry_date: 1}).success));
}

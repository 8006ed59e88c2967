function OnUpdate(doc, meta) {
  const id = 'k';
  const insert = couchbase.insert(dst, {id}, {n: 1});
  const again = couchbase.insert(dst, {id}, {n: 2});
  const got = couchbase.get(dst, {id});
  const upsert = couchbase.upsert(dst, {id}, {n: 3});
  const late = couchbase.replace(dst, {id, cas: got.meta.cas}, {n: 4});
  const replace = couchbase.replace(dst, {id, cas: upsert.meta.cas}, {n: 5});
  const none = couchbase.replace(dst, {id: 'none'}, {});
  log(insert.success, again.success, again.error.key_already_exists, again.error.name);
  log(got.doc, typeof got.meta.cas, got.meta.datatype);
  log(late.error.cas_mismatch, replace.success, none.error.key_not_found, none.error.code);
  log(couchbase.delete(dst, {id: 'none'}).error.key_not_found);
  dst['other'] = 1;
  log(couchbase.delete(dst, {id: 'other'}).success);
}

function OnUpdate(doc, meta) {
  const keyspace = {scope_name: '_default', collection_name: '_default'};
  couchbase.upsert(anywhere, {id: 'a', keyspace}, doc);
  log(couchbase.get(anywhere, {id: 'a', keyspace}).doc);
  for (const what of [() => anywhere['a'], () => couchbase.get(anywhere, {id: 'a'})]) {
    try {
      what();
    } catch (error) {
      log(error);
    }
  }
}

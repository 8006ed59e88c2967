function OnUpdate(doc, meta) {
  const {MutateInSpec, LookupInSpec} = couchbase;
  couchbase.mutateIn(dst, {id: 'd'}, [
    MutateInSpec.upsert('seen.by', meta.id, {create_path: true}),
    MutateInSpec.arrayAppend('list', doc),
    MutateInSpec.remove('old'),
  ]);
  const found = couchbase.lookupIn(dst, {id: 'd'}, [LookupInSpec.get('list[-1]'), LookupInSpec.get('old')]);
  log(found.doc);
  log(couchbase.mutateIn(dst, {id: 'd'}, [MutateInSpec.replace('none', 1)]).error.field_not_found);
}

function OnUpdate(doc, meta) {
  const query = couchbase.SearchQuery.conjuncts(
    couchbase.SearchQuery.match('beer').field('name').boost(2),
    couchbase.SearchQuery.numericRange().min(1).max(5).field('abv'));
  try {
    const rows = couchbase.searchQuery('index', query, {size: 10});
    for (const row of rows) log(row);
  } catch (error) {
    log(error instanceof SearchError, error.message);
  }
}

function OnUpdate(doc, meta) {
  const rows = N1QL('SELECT RAW x FROM [1, 2, 3] x WHERE x >= $low', {$low: 2});
  for (const row of rows) {
    log(row);
    break;
  }
  rows.close();
  log([...couchbase.n1qlQuery('SELECT RAW $1 + $2', [1, 2])]);
  log(new N1qlQuery('SELECT RAW $a', {namedParams: {$a: 'old'}}).execQuery());
  try {
    N1QL('SELEC 1');
  } catch (error) {
    log(error instanceof N1QLError);
  }
}

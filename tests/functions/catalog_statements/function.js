function OnUpdate(doc, meta) {
  if (doc === 'make') {
    CREATE INDEX by_n ON dst(n);
    CREATE COLLECTION dst._default.more;
    dst['made'] = 1;
    throw new Error('the index stays');
  }
  // They are there, or these would throw.
  DROP INDEX by_n ON dst;
  DROP COLLECTION dst._default.more;
  dst['dropped'] = 1;
}

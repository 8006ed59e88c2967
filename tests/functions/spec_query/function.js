function OnUpdate(doc, meta) {
    var strong = 70;
    var results =
        SELECT *                // N1QL queries are embedded directly.
        FROM `beer-samples`    // Token escaping is standard N1QL style.
        WHERE abv > $strong;    // Local variable reference using $ syntax.
    for (var beer of results) { // Stream results using 'for' iterator.
        log(beer);
        break;
    }
    results.close();            // End the query and free resources held
}

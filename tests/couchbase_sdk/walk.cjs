// What programs do with the SDK's query service: node walk.cjs SDK CONNECTION USER PASSWORD
// Prints a line for each step and ends with 1 if one fails.
const assert = require('node:assert/strict');

const [sdk, connection, username, password] = process.argv.slice(2);
const couchbase = require(sdk);
let failed = 0;

async function step(name, body) {
  try {
    await body();
    console.log(`ok      ${name}`);
  } catch (error) {
    ++failed;
    console.log(`FAILED  ${name}: ${error.constructor.name}: ${error.message}`);
    console.log(JSON.stringify(error.context ?? {}));
  }
}

// The step must fail with this class of the SDK's errors.
function refused(name, kind, body) {
  return step(name, async () => {
    try {
      await body();
    } catch (error) {
      if (error instanceof kind) return;
      throw error;
    }
    throw new Error(`expected ${kind.name}`);
  });
}

async function queries(cluster) {
  await step('rows, metrics, profile and signature', async () => {
    const {rows, meta} = await cluster.query('SELECT 1 AS n', {metrics: true, profile: 'timings'});
    assert.deepEqual(rows, [{n: 1}]);
    assert.equal(meta.status, 'success');
    assert.equal(meta.metrics.resultCount, 1);
    assert.deepEqual(meta.signature, {n: 'json'});
    assert.ok(meta.profile.phaseTimes);
  });
  await step('named parameters', async () => {
    const {rows} = await cluster.query('SELECT RAW $a', {parameters: {a: [1, 'x']}});
    assert.deepEqual(rows, [[1, 'x']]);
  });
  await step('prepared statements', async () => {
    for (const second of [2, 5]) {
      const {rows} =
          await cluster.query('SELECT RAW $1 + $2', {adhoc: false, parameters: [1, second]});
      assert.deepEqual(rows, [1 + second]);
    }
  });
  await step('every option', async () => {
    const {rows} = await cluster.query('SELECT RAW 1', {
      clientContextId: 'walk', flexIndex: true, maxParallelism: 1, pipelineBatch: 3, pipelineCap: 4,
      preserveExpiry: true, readOnly: true, scanCap: 5, scanConsistency: 'request_plus',
      scanWait: 100, timeout: 20000, raw: {use_cbo: true},
    });
    assert.deepEqual(rows, [1]);
  });
  await refused('a syntax error', couchbase.ParsingFailureError, () => cluster.query('SELEC 1'));
  await refused('an unknown parameter', couchbase.InvalidArgumentError,
                () => cluster.query('SELECT 1', {raw: {nothing_such: 1}}));
}

async function indexes(cluster) {
  const manager = cluster.queryIndexes();
  await cluster.query('CREATE BUCKET walk');
  await step('a primary index', () => manager.createPrimaryIndex('walk'));
  await refused('a second primary index', couchbase.IndexExistsError,
                () => manager.createPrimaryIndex('walk'));
  await step('an index that is built later',
             () => manager.createIndex('walk', 'by_n', ['n', 'm'], {deferred: true, numReplicas: 1}));
  await refused('an index of the same name', couchbase.IndexExistsError,
                () => manager.createIndex('walk', 'by_n', ['n']));
  await step('all indexes', async () => {
    const all = await manager.getAllIndexes('walk');
    assert.deepEqual(all.map((index) => [index.name, index.state, index.indexKey]),
                     [['#primary', 'online', []], ['by_n', 'deferred', ['`n`', '`m`']]]);
  });
  await step('building', () => manager.buildDeferredIndexes('walk'));
  await step('waiting for them', () => manager.watchIndexes('walk', ['by_n'], 30000, {watchPrimary: true}));
  await step('dropping', () => manager.dropIndex('walk', 'by_n'));
  await refused('dropping what is not there', couchbase.IndexNotFoundError,
                () => manager.dropIndex('walk', 'by_n'));
  await refused('an index of no bucket', couchbase.BucketNotFoundError,
                () => manager.createIndex('nowhere', 'i', ['a']));
}

async function writes(cluster) {
  const insert = 'INSERT INTO walk VALUES ("a", {"n": 1})';
  await step('a write', () => cluster.query(insert));
  // This version of the SDK gives the general class whatever the number of the reason is.
  await refused('a key that exists', couchbase.DmlFailureError, () => cluster.query(insert));
  await refused('a statement that can not be planned', couchbase.PlanningFailureError,
                () => cluster.query('SELECT n, COUNT(*) FROM walk'));
  await step('a query in a scope', async () => {
    const {rows} = await cluster.bucket('walk').scope('_default').query('SELECT n FROM _default');
    assert.deepEqual(rows, [{n: 1}]);
  });
}

async function main() {
  const cluster = await couchbase.connect(connection, {username, password});
  await step('ping', async () => {
    const {services} = await cluster.ping({serviceTypes: [couchbase.ServiceType.Query]});
    assert.equal(services.query[0].state, couchbase.PingState.Ok);
  });
  await queries(cluster);
  await indexes(cluster);
  await writes(cluster);
  await cluster.close();
  process.exit(failed === 0 ? 0 : 1);
}

main();

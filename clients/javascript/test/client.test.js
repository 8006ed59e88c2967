// Against a real server: SLUICE names the binary.
import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {after, before, beforeEach, test} from 'node:test';

import {connect, SluiceError} from '../index.js';

const binary = path.resolve(process.env.SLUICE ?? '../../build/sluice');
let directory;
let server;
let sluice;
let port;

async function start(http = '127.0.0.1:0') {
  server = spawn(binary,
                 ['serve', '--data', path.join(directory, 'data'), '--http', http, '--eventing',
                  '127.0.0.1:0', '--flows', '127.0.0.1:0', '--dev', '--print-ports'],
                 {stdio: ['ignore', 'pipe', 'inherit']});
  return new Promise((resolve, reject) => {
    server.stdout.once('data', line => resolve(JSON.parse(line).http));
    server.once('exit', () => reject(new Error('the server did not start')));
  });
}

function end(signal) {
  const ended = new Promise(resolve => server.once('exit', resolve));
  server.kill(signal);
  return ended;
}

before(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'sluice-js-'));
  port = await start();
  sluice = connect(`http://127.0.0.1:${port}/`);
});

after(async () => {
  await end('SIGTERM');
  await rm(directory, {recursive: true});
});

beforeEach(async () => {
  for (const {name} of await sluice.consumers()) await sluice.query(`DROP LUA CONSUMER ${name}`);
  await sluice.query('DROP TABLE IF EXISTS t');
  await sluice.query('CREATE TABLE t(i int)');
  await sluice.query('CREATE DEFAULT LUA CONSUMER watch ON (TABLE t FOR INSERT AND DELETE)');
});

const insert = (...numbers) =>
    sluice.query(`INSERT INTO t VALUES ${numbers.map(n => `(${n})`).join(', ')}`);

async function take(count, options) {
  const events = [];
  for await (const event of sluice.consume('watch', options)) {
    events.push(event);
    if (events.length === count) break;
  }
  return events;
}

test('statements', async () => {
  await sluice.query('INSERT INTO t VALUES($1)', [7]);
  assert.deepEqual(await sluice.query('SELECT * FROM t WHERE i = $i', {i: 7}), [{i: 7}]);
  assert.deepEqual(await sluice.query('SELECT 1 AS a', [], {metrics: false}), [{a: 1}]);
  await assert.rejects(sluice.query('SELEC 1'), error => {
    assert.ok(error instanceof SluiceError);
    assert.equal(error.id, 'query.syntax');
    assert.equal(error.errors[0].code, 3000);
    return true;
  });
});

test('events in order, the last one unacknowledged when the loop breaks', async () => {
  await insert(1, 2, 3);
  await sluice.query('DELETE FROM t WHERE i = 1');
  const first = await take(3, {batch: 2});
  assert.deepEqual(first.map(event => [event.type, event.name, event.new?.i]),
                   [['add', 't', 1], ['add', 't', 2], ['add', 't', 3]]);
  assert.equal(first[0].tid, first[2].tid);
  const second = await take(2);
  assert.equal(second[0].id, first[2].id);
  assert.deepEqual([second[1].type, second[1].old], ['del', {i: 1}]);
});

test('a loop waits for events', async () => {
  const waiting = take(1, {timeoutMs: 200});
  await new Promise(resolve => setTimeout(resolve, 500));
  await insert(9);
  assert.equal((await waiting)[0].new.i, 9);
});

test('one client at a time, the next takes over when it leaves', async () => {
  await insert(1, 2);
  const one = sluice.consume('watch', {client: 'one', batch: 1});
  assert.equal((await one.next()).value.new.i, 1);
  assert.equal((await sluice.consumers())[0].owner.split('/')[1], 'one');
  const other = take(1, {client: 'two', timeoutMs: 300});
  assert.equal((await one.next()).value.new.i, 2);
  await one.return();
  assert.equal((await other)[0].new.i, 2);
  assert.equal((await sluice.consumers())[0].depth, 1);
});

test('a client that vanishes loses its consumer when its lease lapses', async () => {
  await insert(1);
  const vanished = sluice.consume('watch', {client: 'one', leaseMs: 300});
  const event = (await vanished.next()).value;
  assert.equal((await take(1, {client: 'two'}))[0].id, event.id);
});

test('a signal ends a loop', async () => {
  const control = new AbortController();
  setTimeout(() => control.abort(new Error('enough')), 300);
  await assert.rejects(take(1, {signal: control.signal}), /enough/);
  // The poll that was waiting does not keep it.
  assert.equal((await sluice.consumers())[0].state, 'free');
});

test('an event that was acknowledged does not come again when the loop ends', async () => {
  await insert(1, 2, 3);
  for await (const event of sluice.consume('watch')) {
    if (event.new.i < 2) continue;
    event.ack();
    break;
  }
  assert.equal((await sluice.consumers())[0].depth, 1);
  assert.deepEqual((await take(1)).map(event => event.new.i), [3]);
});

async function makeBucket() {
  await fetch(`http://127.0.0.1:${port}/v1/buckets/shop`, {method: 'PUT'});
  await sluice.query('DELETE FROM shop');
}

test('documents and their versions', async () => {
  await makeBucket();
  assert.equal(await sluice.get('shop', 'a/b c'), undefined);
  const made = await sluice.put('shop', 'a/b c', {n: 1, list: ['ä']});
  assert.deepEqual(await sluice.get('shop', 'a/b c'), {value: {n: 1, list: ['ä']}, cas: made.cas});
  await assert.rejects(sluice.insert('shop', 'a/b c', 1), {id: 'document.exists', status: 409});
  await assert.rejects(sluice.put('shop', 'a/b c', 1, {cas: null}), {status: 412});
  const {cas} = await sluice.put('shop', 'a/b c', {n: 2}, {cas: made.cas, expiry: '1h'});
  await assert.rejects(sluice.put('shop', 'a/b c', {n: 3}, {cas: made.cas}), {status: 412});
  const counted = await sluice.patch('shop', 'a/b c', [{op: 'counter', path: 'n', delta: 5}], {cas});
  assert.deepEqual(counted.values, [7]);
  await sluice.patch('shop', 'a/b c', {n: null, m: true});
  assert.deepEqual((await sluice.get('shop', 'a/b c')).value, {m: true});
  await assert.rejects(sluice.remove('shop', 'a/b c', {cas}), {status: 412});
  await sluice.remove('shop', 'a/b c');
  await assert.rejects(sluice.remove('shop', 'a/b c'), {id: 'document.not_found', status: 404});
  await assert.rejects(sluice.get('nobody', 'x'), {status: 404});
});

test('update starts over when another was faster', async () => {
  await makeBucket();
  const add = () => sluice.update('shop', 'counter', (value = {n: 0}) => ({n: value.n + 1}), {attempts: 1000});
  await Promise.all(Array.from({length: 8}, add));
  assert.deepEqual((await sluice.get('shop', 'counter')).value, {n: 8});
  const {cas} = await sluice.get('shop', 'counter');
  assert.deepEqual(await sluice.update('shop', 'counter', () => undefined), {value: {n: 8}, cas});
});

test('changes, from a place on, also after the server was away', async () => {
  await makeBucket();
  await sluice.put('shop', 'one', {n: 1});
  await sluice.put('shop', 'two', {n: 2});
  const all = [];
  for await (const change of sluice.feed('shop', {from: 'everything', until: 'caught_up'})) all.push(change);
  assert.deepEqual(all.map(change => [change.key, change.value]).sort(), [['one', {n: 1}], ['two', {n: 2}]]);
  await sluice.remove('shop', 'one');
  const seen = [];
  let caughtUp;
  const onCaughtUp = new Promise(resolve => caughtUp = resolve);
  const reading = (async () => {
    for await (const change of sluice.feed('shop', {since: all[1].id, limit: 3, onCaughtUp: caughtUp})) {
      seen.push([change.operation === 'delete', change.key, change.value?.n]);
    }
  })();
  await onCaughtUp;
  await sluice.put('shop', 'three', {n: 3});
  await end('SIGKILL');
  assert.equal(await start(`127.0.0.1:${port}`), port);
  await sluice.put('shop', 'four', {n: 4});
  await reading;
  // What changed before the restart comes once, in any order.
  assert.deepEqual(seen.sort((a, b) => a[1] < b[1] ? -1 : 1),
                   [[false, 'four', 4], [true, 'one', undefined], [false, 'three', 3]]);
  const control = new AbortController();
  setTimeout(() => control.abort(new Error('enough')), 200);
  await assert.rejects((async () => {
    for await (const change of sluice.feed('shop', {signal: control.signal})) assert.fail(change.key);
  })(), /enough/);
});

test('errors', async () => {
  await assert.rejects(sluice.consume('nobody').next(), {id: 'consumer.not_found', status: 404});
  await assert.rejects(connect(`http://127.0.0.1:${port}`, {user: 'x', password: 'wrong-one'})
                           .query('SELECT 1'),
                       {id: 'auth.bad_credentials', status: 401});
  await assert.rejects(connect('http://127.0.0.1:1').query('SELECT 1'), {id: 'unreachable'});
});

test('nothing is lost when the server is killed', async () => {
  const seen = [];
  const reading = (async () => {
    for await (const event of sluice.consume('watch', {batch: 5, timeoutMs: 500})) {
      seen.push(event.new.i);
      if (event.new.i === 40) break;
    }
  })();
  for (let i = 1; i <= 20; ++i) await insert(i);
  await end('SIGKILL');
  assert.equal(await start(`127.0.0.1:${port}`), port);
  for (let i = 21; i <= 40; ++i) await insert(i);
  await reading;
  // An event whose acknowledgement was on its way may come twice: its batch does.
  const fresh = seen.filter((number, at) => seen.indexOf(number) === at);
  assert.deepEqual(fresh, Array.from({length: 40}, (_, i) => i + 1));
});

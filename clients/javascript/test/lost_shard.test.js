// Against a server of this test that loses a shard.
import assert from 'node:assert/strict';
import {createServer} from 'node:http';
import {test} from 'node:test';

import {connect} from '../index.js';

test('a consumer goes on when events that it handled are in a shard that the server lost', async () => {
  const asked = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    const {ack} = JSON.parse(body);
    asked.push(ack);
    const answer = (status, value) => {
      response.writeHead(status, {'Content-Type': 'application/json'});
      response.end(JSON.stringify(value));
    };
    if (ack === 'one') {
      return answer(409, {error: {id: 'consumer.shard_lost', message: 'it was lost'}});
    }
    answer(200, {events: asked.length === 1 ? [{id: 'one'}] : [{id: 'two'}]});
  });
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
  const sluice = connect(`http://127.0.0.1:${server.address().port}/`);
  const got = [];
  for await (const event of sluice.consume('watch')) {
    got.push(event.id);
    if (got.length === 2) break;
  }
  server.close();
  assert.deepEqual(got, ['one', 'two']);
  assert.deepEqual(asked, [undefined, 'one', undefined, undefined]);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PermanentError, WaitError, describeError } from '../../../src/core/model/errors.ts';

const refused = new AggregateError([new Error('connect ECONNREFUSED ::1:6379'), new Error('connect ECONNREFUSED 127.0.0.1:6379')], '');
const circular: Record<string, unknown> = {};
circular['self'] = circular;

const table: [name: string, thrown: unknown, text: string][] = [
  ['an error', new Error('no route'), 'no route'],
  [
    'an error with causes',
    new Error('listing tags', { cause: new Error('no route', { cause: new TypeError('socket') }) }),
    'listing tags: no route: socket',
  ],
  [
    'a cause that the message already tells',
    new Error('listing tags: no route', { cause: new Error('no route') }),
    'listing tags: no route',
  ],
  ['an error without a message', new TypeError(''), 'TypeError'],
  ['a refused connection of Node', refused, 'connect ECONNREFUSED ::1:6379'],
  ['a refused connection as cause', new Error('asking Redis', { cause: refused }), 'asking Redis: connect ECONNREFUSED ::1:6379'],
  ['several errors with a message', new AggregateError([new Error('one')], 'all failed'), 'all failed'],
  ['several errors that are none', new AggregateError([], ''), '"AggregateError"'],
  ['a text', 'broken', '"broken"'],
  ['an object', { code: 7 }, '{"code":7}'],
  ['a big integer', 1n, '1'],
  ['a function', describeError, String(describeError)],
  ['an object that holds itself', circular, '[object Object]'],
  ['nothing', undefined, ''],
];

for (const [name, thrown, text] of table) {
  test(`${name} is described as ${JSON.stringify(text).slice(0, 50)}`, () => assert.equal(describeError(thrown), text));
}

test('describing a cycle of causes terminates', () => {
  const error = new Error('ring');
  error.cause = error;
  assert.equal(describeError(error), 'ring');
});

test('a PermanentError has a reason and a cause, and a WaitError has a reason and the time until which to wait', () => {
  const cause = new Error('404');
  const permanent = new PermanentError('RepositoryNotFound', 'no such repository', { cause });
  assert.deepEqual([permanent.reason, permanent.name, permanent.cause], ['RepositoryNotFound', 'PermanentError', cause]);
  const until = new Date(1_000);
  const wait = new WaitError('RegistryThrottled', until, 'later');
  assert.deepEqual([wait.reason, wait.name, wait.until, wait.message], ['RegistryThrottled', 'WaitError', until, 'later']);
});

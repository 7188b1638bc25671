import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '../../../src/service/telemetry/logger.ts';

const secret = 'hunter2-in-plain-sight';

function log(fields: object, level = 'info'): Record<string, unknown> {
  const lines: string[] = [];
  createLogger(level, { write: (line: string) => void lines.push(line) }).info(fields, 'started');
  return JSON.parse(lines[0] ?? '{}') as Record<string, unknown>;
}

test('a log line has a constant message, level by name, time, service and fields', () => {
  const { time, ...line } = log({ policy: 'shop/web' });
  assert.deepEqual(line, { level: 'info', service: 'image-watcher', policy: 'shop/web', msg: 'started' });
  assert.match(String(time), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

test('a log line contains no control characters from texts of others', () => {
  const why = 'a\u001B[2J\u009B2J\u202Eb\u2028c\r\nd\u3164é🐳';
  const lines: string[] = [];
  createLogger('info', { write: (line: string) => void lines.push(line) }).info({ why }, 'started');
  assert.equal(lines.length, 1);
  assert.doesNotMatch(lines[0]?.slice(0, -1) ?? '', /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u);
  assert.equal(log({ why })['why'], why);
});

for (const field of ['authorization', 'cookie', 'password', 'token', 'secret', 'secrets', 'signature', 'x-hub-signature-256', 'auth']) {
  test(`the log field ${field} is redacted`, () => {
    const objectsWithSecret = [
      { [field]: secret },
      { headers: { [field]: secret } },
      { request: { headers: { [field]: secret } } },
      { [field]: [secret] },
      { requests: [{ [field]: secret }] },
    ];
    for (const fields of objectsWithSecret) {
      const text = JSON.stringify(log(fields));
      assert.ok(!text.includes(secret), text);
      assert.ok(text.includes('[redacted]'));
    }
  });
}

test('an error of Redis is logged without its command', () => {
  const command = { name: 'auth', args: ['default', secret] };
  const error = Object.assign(new TypeError('WRONGPASS invalid username-password pair'), { command });
  for (const err of [
    error,
    Object.assign(new Error('all nodes failed'), { lastNodeError: error }),
    new AggregateError([error], 'all nodes failed'),
  ]) {
    const text = JSON.stringify(log({ err }));
    assert.ok(text.includes('WRONGPASS') && text.includes('[redacted]') && !text.includes(secret), text);
  }
});

test('an error is logged with its type, message and stack', () => {
  class Refused extends Error {
    readonly status = 403;
  }
  const { err } = log({ err: new Refused('forbidden', { cause: new TypeError('why') }) }) as { err: Record<string, unknown> };
  assert.deepEqual([err['type'], err['message'], err['status']], ['Refused', 'forbidden: why', 403]);
  assert.match(String(err['stack']), /logger\.test[^]*caused by: TypeError: why/);
});

test('dates, lists and absent values are logged as JSON writes them', () => {
  const { time: _, ...line } = log({
    notAfter: new Date(0),
    files: ['a', 'b'],
    roles: { a: null, b: undefined },
    count: undefined,
    tag: null,
  });
  const fields = { notAfter: '1970-01-01T00:00:00.000Z', files: ['a', 'b'], roles: { a: null }, tag: null };
  assert.deepEqual(line, { level: 'info', service: 'image-watcher', ...fields, msg: 'started' });
});

test('the log level is respected', () => assert.deepEqual(log({}, 'warn'), {}));

/** The command around the report; what it finds is in test/service/doctor and test/end-to-end/doctor.test.ts. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { UsageError } from '../../src/service/command-line/command.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { runCommand } from './run-command.ts';

const nowhere = join(tempFolder('doctor'), 'kubeconfig');
const tokenFile = join(tempFolder('doctor'), 'token');
writeFileSync(nowhere, 'apiVersion: v1\nkind: Config\n');
writeFileSync(tokenFile, 'a-token');

/** Runs the command against a service that answers this. */
async function examine(t: TestContext, status: number, answer: unknown, ...args: string[]) {
  const server = createServer((_request, response) => response.writeHead(status).end(JSON.stringify(answer)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return runCommand('doctor', ['--server', url, '--insecure', '--token-file', tokenFile, '--kubeconfig', nowhere, ...args]);
}

const finding = { line: 'redis/answers', level: 'ok', message: 'Redis answers' };
const report = { version: '0.0.1', checkedAt: '2026-01-01T00:00:00Z', findings: [finding], conversion: { why: 'off' } };

test('doctor shows the report of the service without a usable kubeconfig, and warns of another version', async (t) => {
  const { code, out } = await examine(t, 200, report);
  assert.equal(code, 0);
  assert.match(out, /^✓ redis\/answers +Redis answers$/m);
  assert.match(out, /^! service\/version .*0\.0\.1/m);
  assert.match(out, /^– service\/cluster .*kubeconfig/m);
});

test('doctor ends with 1 and says what to do if a finding has failed, also with --output json', async (t) => {
  const failed = { line: 'redis/memory', level: 'failed', message: 'full', action: 'raise it' };
  const answer = { ...report, findings: [finding, failed] };
  const { code, out } = await examine(t, 200, answer);
  assert.equal(code, 1);
  assert.match(out, /^✗ redis\/memory +full\n {4}→ raise it$/m);
  const json = await examine(t, 200, answer, '--output', 'json');
  const parsed = JSON.parse(json.out) as { ok: boolean; findings: object[] };
  assert.deepEqual([json.code, parsed.ok], [1, false]);
  assert.ok(parsed.findings.some((one) => 'line' in one && one.line === 'redis/memory'));
});

test('doctor escapes control characters in the report of the service', async (t) => {
  const { out } = await examine(t, 200, { ...report, findings: [{ ...finding, message: 'a\u{1b}[2Jb\r\nc' }] });
  assert.match(out, /^✓ redis\/answers +a\\u\{1b\}\[2Jb\\u\{d\}\\u\{a\}c$/m);
});

for (const [status, answer, level] of [
  [403, { detail: 'not you' }, '–'],
  [401, { detail: 'who?' }, '–'],
  [404, { detail: 'not found' }, '✗'],
  [503, { detail: 'later' }, '✗'],
  [200, { findings: 'many' }, '✗'],
  [200, { ...report, findings: [{ line: 'a', level: 'wonderful', message: '' }] }, '✗'],
] as const)
  test(`doctor shows a service that answers ${status} ${JSON.stringify(answer)} as ${level}`, async (t) => {
    const { code, out } = await examine(t, status, answer);
    assert.match(out, new RegExp(`^${level} service/api`, 'm'));
    assert.equal(code, level === '✗' ? 1 : 0);
  });

for (const args of [['web'], ['--certificate-days', 'many'], ['--certificate-days', '-1'], ['--output', 'table'], ['--dance']])
  test(`the command "doctor ${args.join(' ')}" is reported as wrong usage`, () => assert.rejects(runCommand('doctor', args), UsageError));

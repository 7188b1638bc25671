/** Commands link to the section of each reason that is not in order. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { describeStatus } from '../../src/cli/describe-status.ts';
import type { Condition } from '../../src/core/model/policy-status.ts';
import { documentation } from '../../src/core/model/reasons.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { runCommand } from './run-command.ts';

const linksOf = (lines: readonly string[]) => lines.filter((line) => line.startsWith('see ')).map((line) => line.slice('see '.length));

function condition(type: string, status: Condition['status'], reason: string): Condition {
  return { type, status, reason, message: 'why', lastTransitionTime: '2026-01-01T00:00:00Z' };
}

test('a status links to each reason once', () => {
  const conditions = [
    condition('Ready', 'False', 'RegistryDenied'),
    condition('Stalled', 'True', 'RegistryDenied'),
    condition('TagGone', 'True', 'TagGone'),
  ];
  assert.deepEqual(linksOf(describeStatus({ conditions })), [
    `${documentation}/reasons.md#registrydenied`,
    `${documentation}/reasons.md#taggone`,
  ]);
});

test('a status without problems, or with unknown reasons, has no link to a reason', () => {
  const conditions = [
    condition('Ready', 'True', 'UpToDate'),
    condition('Synced', 'True', 'ReconcileSuccess'),
    condition('A', 'True', 'toString'),
  ];
  assert.deepEqual(linksOf(describeStatus({ conditions })), []);
});

const event = {
  id: '5d2c',
  receiver: 'ci',
  provider: 'generic',
  registry: 'harbor.example.com',
  repository: 'shop/web',
  tag: '1.4.2',
  receivedAt: '2026-03-01T12:00:00.000Z',
};
const policy = { namespace: 'shop', name: 'web', message: 'why' };

for (const [name, found, anchors] of [
  ['the reason at each policy', { outcome: 'stalled', policies: [{ ...policy, outcome: 'stalled', reason: 'NotSigned' }] }, ['notsigned']],
  ['a push that no policy watches', { outcome: 'unwatched', policies: [] }, ['nopolicy']],
  [
    'an ignored push by digest',
    { outcome: 'ignored', reason: 'NotATag', message: 'by digest', tag: `sha256:${'a'.repeat(64)}`, policies: [] },
    [],
  ],
  ['a push that was applied', { outcome: 'updated', policies: [{ ...policy, outcome: 'updated', reason: 'Updated' }] }, []],
] as const) {
  test(`the command "events ID" links to the right explanation for ${name}`, async () => {
    const server = createServer((request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(request.url === '/api/v1/events/5d2c' ? { ...event, ...found } : { events: [{ ...event, ...found }] }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const tokenFile = join(tempFolder('token'), 'token');
      writeFileSync(tokenFile, 'token');
      const { port } = server.address() as AddressInfo;
      const options = ['--server', `http://127.0.0.1:${port}`, '--insecure', '--token-file', tokenFile];
      const lines = (await runCommand('events', ['5d2c', ...options])).out.split('\n');
      assert.deepEqual(
        linksOf(lines),
        anchors.map((anchor) => `${documentation}/reasons.md#${anchor}`),
      );
      const text = lines.join('\n');
      assert.equal(text.includes('no policy watches harbor.example.com/shop/web'), found.outcome === 'unwatched', text);
      assert.equal(text.includes(`shop/web@sha256:${'a'.repeat(64)} `), 'tag' in found, text);
      // A list stays one line for each push and policy.
      assert.deepEqual(linksOf((await runCommand('events', options)).out.split('\n')), []);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
}

test('the command "simulate" links to why a payload is not a push', async () => {
  const file = join(tempFolder('body'), 'body.json');
  for (const [body, anchor] of [
    ['{}', 'malformed'],
    [JSON.stringify({ image: 'harbor.example.com/shop/web' }), 'incomplete'],
  ] as const) {
    writeFileSync(file, body);
    const { code, out } = await runCommand('simulate', ['--provider', 'generic', '--file', file]);
    assert.equal(code, 1);
    assert.deepEqual(linksOf(out.split('\n')), [`${documentation}/reasons.md#${anchor}`], out);
  }
});

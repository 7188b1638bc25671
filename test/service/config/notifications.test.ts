import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { noticeKinds } from '../../../src/core/model/notice.ts';
import { ConfigError } from '../../../src/service/config/config-error.ts';
import { loadSettings } from '../../../src/service/config/settings.ts';
import { tempFolder } from '../../harness/temp-folder.ts';

const file = join(tempFolder('notifications'), 'config.yaml');

function load(text: string, env: Record<string, string>) {
  writeFileSync(file, text);
  return loadSettings({ file, env });
}

/** What is wrong, by path. */
function problems(text: string, env: Record<string, string>): string[] {
  try {
    load(text, env);
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.problems.map(({ path }) => path).sort();
  }
  return [];
}

test('targets of notifications are read with their secrets, and every mistake is reported with its path', () => {
  const target = (more: string) => `notifications: {targets: [{name: ops, ${more}}]}`;
  const env = { HOOK: 'https://chat.example.com/hooks/abc', KEY: 'key' };
  const [ops] = load(target('kind: webhook, url: {env: HOOK}, secret: {env: KEY}'), env).notificationTargets;
  assert.deepEqual([ops?.url(), ops?.secret(), ops?.insecure, ops?.events, ops?.namespaces], [env.HOOK, 'key', false, noticeKinds, []]);
  const path = 'notifications.targets[0]';
  assert.deepEqual(problems(target('kind: webhook, url: {env: HOOK}'), env), [`${path}.secret`]);
  assert.deepEqual(problems(target('kind: slack, url: {env: HOOK}, secret: {env: KEY}'), env), [`${path}.secret`]);
  assert.deepEqual(problems(target('kind: slack, url: {env: MISSING}'), env), [`${path}.url`]);
  const [calls] = load(target('kind: pagerduty, secret: {env: KEY}'), env).notificationTargets;
  assert.deepEqual([calls?.url(), calls?.secret(), calls?.perMinute], ['https://events.pagerduty.com/v2/enqueue', 'key', undefined]);
  assert.deepEqual(problems(target('kind: pagerduty'), env), [`${path}.secret`]);
  assert.deepEqual(problems(target('kind: opsgenie, secret: {env: KEY}, template: {title: a}'), env), [`${path}.template`]);
  assert.deepEqual(problems(target('kind: slack, url: {env: HOOK}, events: [Exploded]'), env), [`${path}.events[0]`]);
  assert.deepEqual(
    problems('notifications: {targets: [{name: a, kind: slack, url: {env: HOOK}}, {name: a, kind: slack, url: {env: HOOK}}]}', env),
    ['notifications.targets[1].name'],
  );
  const mail = 'kind: email, url: {env: HOOK}';
  const addresses = (from: string, to: string) => `email: {from: ${from}, to: [${to}]}`;
  assert.deepEqual(
    problems(target(`${mail}, ${addresses('a@example.com', 'b@example.com')}, policies: {matchLabels: {tier: a}}`), env),
    [],
  );
  assert.deepEqual(problems(target(mail), env), [`${path}.email`]);
  assert.deepEqual(problems(target(`kind: slack, url: {env: HOOK}, ${addresses('a@example.com', 'b@example.com')}`), env), [
    `${path}.email`,
  ]);
  assert.deepEqual(problems(target(`${mail}, ${addresses('a@example.com', '"b@example.com, c@example.com"')}`), env), [
    `${path}.email.to[0]`,
  ]);
});

test('a target for commit statuses needs an environment and a token, and for Gitea also an address', () => {
  const env = { KEY: 'key', HOOK: 'https://git.example.com/api/v1' };
  const target = (more: string) => `notifications: {targets: [{name: ops, secret: {env: KEY}, ${more}}]}`;
  const settings = 'commitStatus: {environment: production, repositories: [shop/*]}';
  const [status] = load(target(`kind: gitlabStatus, ${settings}`), env).notificationTargets;
  assert.deepEqual(
    [status?.url(), status?.forge, status?.perMinute],
    ['https://gitlab.com/api/v4', { environment: 'production', repositories: ['shop/*'] }, undefined],
  );
  const path = 'notifications.targets[0]';
  assert.deepEqual(problems(target('kind: bitbucketStatus'), env), [`${path}.commitStatus`]);
  assert.deepEqual(problems(target('kind: gitlabStatus, github: {environment: production}'), env), [
    `${path}.commitStatus`,
    `${path}.github`,
  ]);
  assert.deepEqual(problems(target(`kind: giteaStatus, ${settings}`), env), [`${path}.url`]);
  assert.deepEqual(problems(target(`kind: giteaStatus, url: {env: HOOK}, ${settings}`), env), []);
});

test('by default, chats get events that need somebody, and webhooks get every event', () => {
  const env = { HOOK: 'https://chat.example.com/hooks/abc', KEY: 'key' };
  const eventsOf = (more: string) =>
    load(`notifications: {targets: [{name: ops, url: {env: HOOK}, ${more}}]}`, env).notificationTargets[0]?.events;
  const chat = eventsOf('kind: slack');
  assert.deepEqual(
    noticeKinds.filter((kind) => chat?.includes(kind) !== true),
    ['Updated', 'RolledOut', 'ApprovalEnded', 'Rebased', 'RebuildRequested'],
  );
  assert.deepEqual(eventsOf('kind: slack, events: [Updated]'), ['Updated']);
  assert.deepEqual(eventsOf("kind: slack, events: ['*']"), noticeKinds);
  assert.deepEqual(eventsOf('kind: webhook, secret: {env: KEY}'), noticeKinds);
});

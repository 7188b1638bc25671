/** Nothing is forgotten in the list of kinds of targets. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { noticeKinds } from '../../src/core/model/notice.ts';
import { targetTypes } from '../../src/core/model/notification-target.ts';
import { severityOf } from '../../src/core/model/severity.ts';
import { looks } from '../../src/notify/looks.ts';
import { forges } from '../../src/notify/forges/index.ts';
import { targets as notificationTargets } from '../../src/notify/targets/index.ts';
import { membersIn, root } from '../structure/sources.ts';

test('every kind of target of notifications is in the list, under its own id, with a row in the documentation', () => {
  const files = membersIn('notify/targets', /^export const \w+: NotificationTarget = /m).map((file) => file.replaceAll('-', ''));
  assert.deepEqual(
    Object.keys(notificationTargets)
      .map((id) => id.toLowerCase())
      .sort(),
    files,
  );
  const docs = readFileSync(join(root, 'docs/notifications.md'), 'utf8');
  for (const [name, { id }] of Object.entries(notificationTargets)) {
    assert.equal(id, name);
    assert.ok(docs.includes(`| \`${id}\` |`), id);
  }
});

test('every Git host whose commits have statuses is in the list, under its own id', () => {
  const files = membersIn('notify/forges', /^export const \w+: Forge = /m);
  assert.deepEqual(
    Object.values(forges)
      .map(({ id }) => id.replace(/Status$/, ''))
      .sort(),
    files,
  );
  for (const [name, { id }] of Object.entries(forges)) assert.equal(id, name);
});

test('every kind of target of notifications has a row in the documentation', () => {
  const docs = readFileSync(join(root, 'docs/notifications.md'), 'utf8');
  for (const type of targetTypes) assert.ok(docs.includes(`\n| \`${type}\` |`), type);
});

test('every kind of notice has a row in the documentation, with the icon of its severity', () => {
  const docs = readFileSync(join(root, 'docs/notifications.md'), 'utf8');
  for (const kind of noticeKinds) assert.ok(docs.includes(`\n| ${looks[severityOf[kind]].icon} | \`${kind}\` |`), kind);
});

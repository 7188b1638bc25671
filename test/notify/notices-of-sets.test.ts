/** What messages say about images that are changed together. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Notice } from '../../src/core/model/notice.ts';
import { messageOf } from '../../src/notify/message.ts';
import { renderTemplate } from '../../src/notify/render-template.ts';
import { targets } from '../../src/notify/targets/index.ts';
import { threadOf } from '../../src/notify/thread.ts';
import { readNoticeJob } from '../../src/service/queue/read-job.ts';

const [digest, setDigest] = [`sha256:${'a'.repeat(64)}`, `sha256:${'b'.repeat(64)}`];
const alongside = [{ from: 'r.example.com/proxy:1.4.1', to: 'r.example.com/proxy:1.4.2' }, { to: 'r.example.com/agent:1.4.2' }];
const notice: Notice = {
  kind: 'Updated',
  subject: { kind: 'ImagePolicy', namespace: 'shop', name: 'web', uid: 'u1' },
  at: '2026-11-23T12:00:00Z',
  tag: '1.4.2',
  digest,
  setDigest,
  from: ['r.example.com/web:1.4.1'],
  alongside,
};

test('a message about a set of images names every image, and the images before', () => {
  const { facts } = messageOf({ type: 'notice', notice });
  assert.deepEqual(
    facts.map(({ label, names }) => [label, names]),
    [
      ['Image', ['1.4.2']],
      ['Before', ['r.example.com/web:1.4.1']],
      ['Alongside', ['r.example.com/proxy:1.4.2', 'r.example.com/agent:1.4.2']],
      ['Before alongside', ['r.example.com/proxy:1.4.1']],
    ],
  );
});

test('a CloudEvent and a template about a set of images have every image, and the images before', () => {
  const delivery = { id: 'id-1', secret: 'whsec_c2VjcmV0c2VjcmV0c2VjcmV0', now: new Date(notice.at) };
  const { data } = JSON.parse(targets.webhook.build({ type: 'notice', notice }, delivery).body) as { data: Partial<Notice> };
  assert.deepEqual([data.digest, data.setDigest, data.alongside], [digest, setDigest, alongside]);
  const text = '{% for one in alongside %}{{ one.from | default: "new" }}>{{ one.to }} {% endfor %}';
  const { title } = renderTemplate({ title: text }, notice, {});
  assert.equal(title?.trim(), 'r.example.com/proxy:1.4.1>r.example.com/proxy:1.4.2 new>r.example.com/agent:1.4.2');
});

test('a job of a notice keeps the images of a set, and is refused with too many of them', () => {
  const job = { schema: 1, target: 'ops', identity: ['a'], notice, receivedAt: notice.at };
  assert.deepEqual(readNoticeJob(job), job);
  const many = Array.from({ length: 33 }, () => ({ to: 'r/proxy:1' }));
  assert.throws(() => readNoticeJob({ ...job, notice: { ...notice, alongside: many } }), /cannot be read/);
});

test('the approval and the change of one set of images are in one thread', () => {
  assert.equal(threadOf({ ...notice, kind: 'ApprovalRequired' }), threadOf(notice));
  assert.equal(threadOf({ ...notice, kind: 'RolledBack', tag: '1.4.1', undone: digest }), threadOf(notice));
});

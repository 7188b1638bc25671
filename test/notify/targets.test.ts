/** What each kind of target gets, and that untrusted text stays text. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import type { Notice } from '../../src/core/model/notice.ts';
import { targets } from '../../src/notify/targets/index.ts';
import { textsOf } from './shown-texts.ts';

const digest = `sha256:${'a'.repeat(64)}`;
const notice: Notice = {
  kind: 'ApprovalRequired',
  subject: { kind: 'ImagePolicy', namespace: 'shop', name: 'web', uid: 'u1' },
  at: '2026-11-23T12:00:00Z',
  tag: '1.1.0',
  digest,
  from: ['r/shop/web:1.0.0'],
  workloads: Array.from({ length: 7 }, (_, index) => `Deployment shop/web${index}`),
  reason: 'ApprovalRequired',
  message: 'somebody must approve it',
};
const delivery = { id: 'id-1', secret: '', now: new Date('2026-11-23T12:00:01Z') };
const hostile =
  '<!channel> <@U1> @everyone @here <https://evil.example|ok> [ok](https://evil.example) *b* `c`\n\u202Ehttp://evil.example <users/all>';

const chats = Object.values(targets).filter(({ id }) => id !== 'webhook');
/** What a reader of markup sees and copies. */
const readable = (text: string) =>
  text
    .replaceAll(/\\(?=[^A-Za-z0-9\s])/g, '')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&#39;', "'");

describe('targets of notifications', () => {
  for (const target of Object.values(targets)) {
    it(`${target.id} shows everything that a reader needs to act`, () => {
      const { body } = target.build({ type: 'notice', notice }, delivery);
      if (target.via === 'http') JSON.parse(body);
      for (const part of ['1.1.0', 'aaaaaaaaaaaa', 'shop/web', 'r/shop/web:1.0.0', 'Deployment shop/web0'])
        assert.ok(body.includes(part), part);
      if (target.id !== 'webhook') {
        for (const part of ['image-watcher approve shop/web', 'reasons.md#approvalrequired', 'and 2 others'])
          assert.ok(body.includes(part), part);
        assert.ok(!body.includes(digest), 'the digest is short');
      }
    });

    if (target.id !== 'webhook')
      it(`${target.id} shows untrusted text as text`, () => {
        const content = { type: 'notice', notice: { ...notice, message: hostile, workloads: [hostile], from: [hostile] } } as const;
        const { plain, markup } = textsOf(target, target.build(content, delivery));
        const text = markup.join('\n');
        // What reads links drops the joiner behind the slashes, so that it stands before them.
        assert.doesNotMatch(text, /:\/\/\u2060/);
        for (const mention of ['<!channel', '<@', '@everyone', '@here', '://evil.example', '<users/all', '\u202E'])
          assert.ok(!text.includes(mention), `${mention} in ${text}`);
        // The others know no such links.
        if (['mattermost', 'discord', 'teams'].includes(target.id)) assert.doesNotMatch(text, /(?<!\\)\[ok\]\(/);
        assert.doesNotMatch(plain.join('\n'), /\u202E/);
        // Slack decodes entities in plain text as well.
        if (target.id === 'slack') assert.doesNotMatch(plain.join('\n'), /[<>]/);
      });
  }

  for (const target of Object.values(targets))
    it(`${target.id} names the cluster, if the cluster has a name`, () => {
      const [named, unnamed] = ['prod-eu', undefined].map((cluster) => target.build({ type: 'notice', notice }, { ...delivery, cluster }));
      assert.ok(named !== undefined && unnamed !== undefined);
      assert.match(
        `${named.headers['subject'] ?? ''} ${named.body}`,
        target.id === 'webhook' ? /"cluster":"prod-eu"/ : /\[prod-eu(?:\\\\)?\] shop\/web 1\.1\.0 waits/,
      );
      assert.doesNotMatch(unnamed.body, /prod-eu|undefined/);
    });

  for (const target of chats)
    it(`${target.id} shows names and commands that readers copy unchanged`, () => {
      const tag = '1.1.0_rc-1';
      const copied: Notice = {
        ...notice,
        tag,
        from: [`r.example.com:5000/shop/my_web:1.0.0@${digest}`],
        workloads: ['StatefulSet shop/web', 'Rollout shop/a-b'],
        message: `${tag} waits for approval: approve it with the annotation operator.technomad.dev/approve: ${tag}@${digest}`,
      };
      const { plain, markup } = textsOf(target, target.build({ type: 'notice', notice: copied }, { ...delivery, cluster: 'prod_eu' }));
      const shown = [...plain, ...markup.map(readable)].join('\n');
      assert.doesNotMatch(shown, /[\p{Cf}]/u, 'no character that nobody sees');
      for (const part of [
        tag,
        ...(copied.from ?? []),
        ...(copied.workloads ?? []),
        `approve: ${tag}@${digest}`,
        'image-watcher approve shop/web',
      ])
        assert.ok(shown.includes(part), `${part} in ${shown}`);
    });

  for (const target of chats)
    it(`${target.id} links to the dashboard, if there is one`, () => {
      const linkOf = (kind: Notice['kind']) =>
        target.build({ type: 'notice', notice: { ...notice, kind } }, { ...delivery, dashboardUrl: 'https://images.example.com' }).body;
      assert.match(linkOf('ApprovalRequired'), /https:\/\/images\.example\.com\/policies\/shop\/web\/approve\b/);
      assert.match(linkOf('RolloutFailed'), /https:\/\/images\.example\.com\/policies\/shop\/web#push\b/);
      assert.match(linkOf('Blocked'), /https:\/\/images\.example\.com\/policies\/shop\/web#explanation\b/);
    });

  it('discord does not let a text mention anybody', () =>
    assert.deepEqual(
      (JSON.parse(targets.discord.build({ type: 'notice', notice }, delivery).body) as { allowed_mentions: object }).allowed_mentions,
      {
        parse: [],
      },
    ));

  it('webhook gets a CloudEvent that is signed as Standard Webhooks', () => {
    const key = Buffer.from('a key of some length');
    const { headers, body } = targets.webhook.build({ type: 'notice', notice }, { ...delivery, secret: `whsec_${key.toString('base64')}` });
    const event = JSON.parse(body) as Record<string, unknown>;
    const { specversion, type, source, id, time } = event;
    assert.deepEqual(
      { specversion, type, source, id, time },
      {
        specversion: '1.0',
        type: 'dev.technomad.image-watcher.ApprovalRequired',
        source: '/imagepolicies/shop/web',
        id: 'id-1',
        time: notice.at,
      },
    );
    const signed = createHmac('sha256', key).update(`id-1.${headers['webhook-timestamp']}.${body}`).digest('base64');
    assert.equal(headers['webhook-signature'], `v1,${signed}`);
    assert.equal(headers['content-type'], 'application/cloudevents+json');
  });
});

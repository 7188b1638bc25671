/** The structure of a message in each chat. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Notice } from '../../src/core/model/notice.ts';
import { deliver } from '../../src/notify/deliver.ts';
import type { Content, MessageType } from '../../src/notify/message.ts';
import { looks } from '../../src/notify/looks.ts';
import { targets } from '../../src/notify/targets/index.ts';

const at = '2026-11-23T12:00:00Z';
const delivery = { id: 'id-1', secret: 'the-token', now: new Date(at), dashboardUrl: 'https://images.example.com', cluster: 'prod-eu' };
const notice: Notice = {
  kind: 'RolledBack',
  subject: { kind: 'ImagePolicy', namespace: 'shop', name: 'web', uid: 'u1' },
  at,
  tag: '1.4.1',
  from: ['r.example.com/web:1.4.2'],
  workloads: ['Deployment shop/a', 'Deployment shop/b'],
  reason: 'CrashLoop',
  message: 'a pod <crashed>: see http://logs.example.com',
};
const origin = { repository: 'https://github.com/shop/web', revision: 'abc1234' };
const build = (id: MessageType, content: Content = { type: 'notice', notice, origins: { now: origin } }) =>
  targets[id].build(content, delivery);
const jsonOf = (id: MessageType, content?: Content) => JSON.parse(build(id, content).body) as Record<string, unknown>;

const heading = '🔔 [prod-eu] shop/web 1.4.2 failed, rolled back to 1.4.1 (2 workloads)';
const page = 'https://images.example.com/policies/shop/web#push';
const commit = 'https://github.com/shop/web/commit/abc1234';
const broken = 'http:\u2060//logs.example.com';

describe('a message', () => {
  it('of slack has the title as a header, facts and reason without markup beside a colour, and one button', () => {
    const plain = (text: string) => ({ type: 'plain_text', text, emoji: false });
    assert.deepEqual(jsonOf('slack'), {
      text: heading,
      blocks: [{ type: 'header', text: plain(heading) }],
      attachments: [
        {
          color: looks.attention.color,
          blocks: [
            {
              type: 'section',
              fields: [
                plain('Image\n1.4.1'),
                plain('Before\nr.example.com/web:1.4.2'),
                plain('Workloads\nDeployment shop/a, Deployment shop/b'),
                plain('Reason\nCrashLoop'),
              ],
            },
            {
              type: 'context',
              elements: [
                plain('Why: a pod &lt;crashed&gt;: see http://logs.example.com'),
                { type: 'mrkdwn', text: `<${commit}|Commit abc1234 on github.com>`, verbatim: true },
              ],
            },
            { type: 'actions', elements: [{ type: 'button', text: plain('Open the policy'), url: page }] },
          ],
        },
      ],
      link_names: false,
      unfurl_links: false,
      unfurl_media: false,
    });
  });

  it('of teams is a card in full width, whose head has the style of the severity', () => {
    const plain = (...runs: object[]) => ({ type: 'RichTextBlock', inlines: runs.map((run) => ({ type: 'TextRun', ...run })) });
    const { attachments } = jsonOf('teams') as { attachments: { content: object }[] };
    assert.deepEqual(attachments[0]?.content, {
      $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
      type: 'AdaptiveCard',
      version: '1.4',
      msteams: { width: 'Full' },
      body: [
        { type: 'Container', style: 'warning', bleed: true, items: [plain({ text: heading, weight: 'Bolder', size: 'Medium' })] },
        {
          type: 'FactSet',
          facts: [
            { title: 'Image', value: '1.4.1' },
            { title: 'Before', value: 'r.example.com/web:1.4.2' },
            { title: 'Workloads', value: 'Deployment shop/a, Deployment shop/b' },
            { title: 'Reason', value: 'CrashLoop' },
          ],
        },
        plain({ text: 'Why: ', weight: 'Bolder' }, { text: notice.message }),
        { type: 'TextBlock', text: `[Commit abc1234 on github.com](${commit})`, wrap: true },
      ],
      actions: [{ type: 'Action.OpenUrl', title: 'Open the policy', url: page }],
    });
  });

  it('of discord is an embed, whose title is the link', () => {
    assert.deepEqual(jsonOf('discord'), {
      embeds: [
        {
          title: '🔔 \\[prod-eu\\] shop/web 1.4.2 failed, rolled back to 1.4.1 \\(2 workloads\\)',
          url: page,
          fields: [
            { name: 'Image', value: '`1.4.1`', inline: true },
            { name: 'Before', value: '`r.example.com/web:1.4.2`', inline: true },
            { name: 'Workloads', value: '`Deployment shop/a`, `Deployment shop/b`', inline: true },
            { name: 'Reason', value: '`CrashLoop`', inline: true },
            { name: 'Why', value: `a pod \\<\u2060crashed\\>: see ${broken}` },
          ],
          description: `[Open the policy](${page})\n[Commit abc1234 on github.com](${commit})`,
          color: 0xb45f06,
          timestamp: at,
        },
      ],
      allowed_mentions: { parse: [] },
    });
  });

  it('of mattermost is an attachment, whose title is the link', () => {
    assert.deepEqual(jsonOf('mattermost'), {
      attachments: [
        {
          fallback: heading,
          color: looks.attention.color,
          title: heading,
          title_link: page,
          fields: [
            { title: 'Image', value: '`1.4.1`', short: true },
            { title: 'Before', value: '`r.example.com/web:1.4.2`', short: true },
            { title: 'Workloads', value: '`Deployment shop/a`, `Deployment shop/b`', short: true },
            { title: 'Reason', value: '`CrashLoop`', short: true },
            { title: 'Why', value: `a pod \\<\u2060crashed\\>: see ${broken}`, short: false },
          ],
          text: `[Open the policy](${page})\n[Commit abc1234 on github.com](${commit})`,
        },
      ],
    });
  });

  it('of googleChat is a card', () => {
    const fact = (topLabel: string, text: string) => ({ decoratedText: { topLabel, text, wrapText: true } });
    assert.deepEqual(jsonOf('googleChat'), {
      fallbackText: heading,
      cardsV2: [
        {
          cardId: 'notice',
          card: {
            header: { title: heading },
            sections: [
              {
                widgets: [
                  fact('Image', '1.4.1'),
                  fact('Before', 'r.example.com/web:1.4.2'),
                  fact('Workloads', 'Deployment shop/a, Deployment shop/b'),
                  fact('Reason', 'CrashLoop'),
                  fact('Why', `a pod &lt;\u2060crashed&gt;: see ${broken}`),
                  { textParagraph: { text: `<a href="${commit}">Commit abc1234 on github.com</a>` } },
                  { buttonList: { buttons: [{ text: 'Open the policy', onClick: { openLink: { url: page } } }] } },
                ],
              },
            ],
          },
        },
      ],
    });
  });

  const text = [
    `<b>${heading}</b>`,
    'Image: <code>1.4.1</code>',
    'Before: <code>r.example.com/web:1.4.2</code>',
    'Workloads: <code>Deployment shop/a</code>, <code>Deployment shop/b</code>',
    'Reason: <code>CrashLoop</code>',
    'Why: <code>a pod &lt;crashed&gt;: see http://logs.example.com</code>',
    `<a href="${page}">Open the policy</a>`,
    `<a href="${commit}">Commit abc1234 on github.com</a>`,
  ];

  it('of telegram is HTML, in which texts of others are code', () =>
    assert.deepEqual(jsonOf('telegram'), { text: text.join('\n'), parse_mode: 'HTML', link_preview_options: { is_disabled: true } }));

  it('of matrix is a transaction with the id of the message, and mentions nobody', () => {
    const { method, path, headers } = build('matrix');
    assert.deepEqual([method, path, headers['authorization']], ['PUT', '/send/m.room.message/id-1', 'Bearer the-token']);
    const { body, ...content } = jsonOf('matrix');
    assert.deepEqual(content, { msgtype: 'm.text', format: 'org.matrix.custom.html', formatted_body: text.join('<br>'), 'm.mentions': {} });
    assert.equal(body, build('email').body.trimEnd());
  });

  it('of matrix is put below the address of the room', async () => {
    const room = 'https://matrix.example.com/_matrix/client/v3/rooms/!abc:example.com';
    const asked: string[] = [];
    const result = await deliver(
      { name: 'room', kind: 'matrix', events: [], namespaces: [], insecure: false, url: () => room, secret: () => 'the-token' },
      { type: 'notice', notice },
      {
        id: 'id-1',
        exchange: (url, { method, headers }) => {
          asked.push(`${method} ${url.href} ${headers['authorization']}`);
          return Promise.resolve({ result: { kind: 'sent', message: 'accepted' } });
        },
        mail: () => assert.fail('no mail'),
        now: Date.now,
        signal: new AbortController().signal,
      },
    );
    assert.equal(result.kind, 'sent');
    assert.deepEqual(asked, [`PUT ${room}/send/m.room.message/id-1 Bearer the-token`]);
  });

  it('in Telegram and Matrix has no links, commands and hashtags from texts of others', () => {
    const { message: _, ...rest } = notice;
    const hostile = { ...rest, subject: { ...notice.subject, name: '/start #tag evil.example' } };
    for (const id of ['telegram', 'matrix'] as const) {
      const { body } = targets[id].build({ type: 'notice', notice: hostile }, { ...delivery, dashboardUrl: undefined });
      const shown = JSON.stringify(JSON.parse(body));
      assert.ok(shown.includes('#\u2060tag evil.\u2060example'), shown);
    }
    assert.match(
      targets.telegram.build({ type: 'notice', notice: { ...hostile, subject: { ...hostile.subject, namespace: 'a /start' } } }, delivery)
        .body,
      /a \/\u2060start/,
    );
  });

  it('of email is plain text, and HTML that loads nothing', () => {
    const { headers, body, html = '' } = build('email');
    assert.equal(headers['subject'], '[image-watcher] [prod-eu] shop/web 1.4.2 failed, rolled back to 1.4.1 (2 workloads)');
    assert.equal(
      body,
      [
        heading,
        'Image: 1.4.1',
        'Before: r.example.com/web:1.4.2',
        'Workloads: Deployment shop/a, Deployment shop/b',
        'Reason: CrashLoop',
        `Why: a pod <\u2060crashed>: see ${broken}`,
        `Open the policy: ${page}`,
        `Commit abc1234 on github.com: ${commit}`,
        '',
      ].join('\n'),
    );
    assert.ok(html.includes('<td>a pod &lt;crashed&gt;: see http:<wbr>//logs.example.com</td>'), html);
    assert.ok(html.includes(`<a href="${page}" style="display:inline-block;padding:6px 14px;background:${looks.attention.color};`), html);
    assert.doesNotMatch(html, /src=|<(?:img|link|style|script)|url\(/);
  });

  it('links to the places of an image in the namespace', () => {
    const subject = { kind: 'Image', namespace: 'shop', name: 'r.example.com:5000/shop/web:1.2.3', uid: 'u2' } as const;
    const { body } = build('slack', { type: 'notice', notice: { ...notice, kind: 'Behind', subject } });
    const url = '"url":"https://images.example.com/image?repository=r.example.com%3A5000%2Fshop%2Fweb&runsIn=shop#places"';
    assert.ok(body.includes(`"Open the image","emoji":false},${url}`), body);
  });

  it('links to the form that approves a base', () => {
    const subject = { kind: 'BaseImagePolicy', namespace: 'platform', name: 'java', uid: 'u2' } as const;
    const { body } = build('slack', { type: 'notice', notice: { ...notice, kind: 'ApprovalRequired', subject } });
    assert.match(body, /"Approve","emoji":false\},"url":"https:\/\/images\.example\.com\/bases\/platform\/java\/approve"/);
    assert.match(body, /`image-watcher approve -n platform bipol\/java`/);
  });
});

/** The structure of a message in each chat, and that no text makes it longer than the chat takes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { noticeKinds, type Notice } from '../../src/core/model/notice.ts';
import type { Content, MessageType } from '../../src/notify/message.ts';
import { looks } from '../../src/notify/severity.ts';
import { targets } from '../../src/notify/targets/index.ts';

const at = '2026-11-23T12:00:00Z';
const delivery = { id: 'id-1', secret: '', now: new Date(at), dashboardUrl: 'https://images.example.com', cluster: 'prod-eu' };
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
const page = 'https://images.example.com/policies/shop/web';
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

  it('leads to the form that approves a base', () => {
    const subject = { kind: 'BaseImagePolicy', namespace: 'platform', name: 'java', uid: 'u2' } as const;
    const { body } = build('slack', { type: 'notice', notice: { ...notice, kind: 'ApprovalRequired', subject } });
    assert.match(body, /"Approve","emoji":false\},"url":"https:\/\/images\.example\.com\/bases\/platform\/java\/approve"/);
    assert.match(body, /`image-watcher approve -n platform bipol\/java`/);
  });
});

/** The characters of all strings in a document. */
const lengthOf = (node: unknown): number =>
  typeof node === 'string'
    ? node.length
    : typeof node === 'object' && node !== null
      ? Object.values(node).reduce<number>((sum, one) => sum + lengthOf(one), 0)
      : 0;
const within = (value: string, most: number, what: string) => assert.ok(value.length <= most, `${what}: ${value.length}`);

interface SlackBlock {
  readonly text?: { readonly text: string };
  readonly fields?: readonly { readonly text: string }[];
  readonly elements?: readonly { readonly text: string | { readonly text: string } }[];
}

/** The documented limits of each chat. */
const limits: Readonly<Partial<Record<MessageType, (json: never, bytes: number) => void>>> = {
  slack({ blocks, attachments }: { blocks: SlackBlock[]; attachments: { blocks: SlackBlock[] }[] }) {
    const [header] = blocks;
    within(header?.text?.text ?? '', 150, 'header');
    const all = attachments.flatMap((one) => one.blocks);
    assert.ok(all.length < 50);
    for (const { fields = [], elements = [] } of all) {
      assert.ok(fields.length <= 10 && elements.length <= 10);
      for (const field of fields) within(field.text, 2_000, 'field');
      for (const { text } of elements) within(typeof text === 'string' ? text : text.text, 3_000, 'element');
    }
  },
  discord({ embeds: [embed] }: { embeds: { title: string; description?: string; fields: { name: string; value: string }[] }[] }) {
    within(embed?.title ?? '', 256, 'title');
    within(embed?.description ?? '', 4_096, 'description');
    assert.ok((embed?.fields.length ?? 0) <= 25);
    for (const { name, value } of embed?.fields ?? []) {
      within(name, 256, 'name');
      within(value, 1_024, 'value');
      assert.ok(value !== '');
    }
    const { title, description, fields } = embed ?? {};
    assert.ok(lengthOf([title, description, fields]) <= 6_000, String(lengthOf([title, description, fields])));
  },
  mattermost: (json: unknown) => assert.ok(lengthOf(json) <= 16_383),
  teams: (_: unknown, bytes: number) => assert.ok(bytes <= 28_000, String(bytes)),
  googleChat: (_: unknown, bytes: number) => assert.ok(bytes <= 32_000, String(bytes)),
};

describe('the longest message', () => {
  const longOrigin = (letter: string) => ({
    repository: `https://gitlab.example.com/${Array.from({ length: 12 }, () => letter.repeat(100)).join('/')}`,
    revision: 'a'.repeat(64),
    version: '1',
  });
  for (const [id, check] of Object.entries(limits))
    for (const [name, letter] of Object.entries({
      letters: 'a',
      markup: '*',
      'angle brackets': '<',
      quotes: '"',
      'wide letters': '界',
      joiners: '@',
    }))
      it(`of ${id} with ${name} is within its limits`, () => {
        const long = letter.repeat(9_000);
        const full: Notice = {
          ...notice,
          kind: 'ApprovalRequired',
          tag: long,
          digest: `sha256:${'a'.repeat(64)}`,
          base: long,
          images: { current: 1, behind: 1, refused: 1, unknown: 1 },
          from: [long, long],
          workloads: Array<string>(9).fill(letter.repeat(200)),
          reason: long,
          message: long,
          nextStep: long,
        };
        const notices = noticeKinds.flatMap((kind) =>
          Array.from({ length: 20 }, (_, index) => ({
            ...notice,
            kind,
            subject: { ...notice.subject, name: `${index}${letter.repeat(250)}` },
          })),
        );
        for (const content of [
          { type: 'notice', notice: full, origins: { now: longOrigin('a'), before: { ...longOrigin('a'), revision: 'b'.repeat(64) } } },
          { type: 'summary', target: 'ops', at, notices, more: 5 },
        ] as const) {
          const { body } = targets[id as MessageType].build(content, delivery);
          check(JSON.parse(body) as never, Buffer.byteLength(body));
        }
      });
});

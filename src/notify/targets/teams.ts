import { formatFact, maxLengthOf, renderedOf, verbatim, type Markup } from '../markup.ts';
import { markdown } from '../markdown.ts';
import { headingOf, messageOf, type Message, type NotificationTarget } from '../message.ts';
import type { Severity } from '../../core/model/severity.ts';

/** The subset of Markdown in cards has no code: https://learn.microsoft.com/en-us/adaptive-cards/authoring-cards/text-features */
const markup: Pick<Markup, 'escape' | 'name'> = { escape: markdown.escape, name: markdown.escape };

/** The styles of containers: https://adaptivecards.io/explorer/Container.html */
const styles: Readonly<Record<Severity, string>> = { failure: 'attention', attention: 'warning', success: 'good', info: 'emphasis' };

/** A text without any markup: https://adaptivecards.io/explorer/TextRun.html */
const plain = (...runs: readonly (readonly [text: string, more?: object])[]) => ({
  type: 'RichTextBlock',
  inlines: runs.map(([text, more]) => ({ type: 'TextRun', text, ...more })),
});

/** A workflow of Teams, "When a Teams webhook request is received", which posts an Adaptive Card: https://adaptivecards.io/explorer/. It takes 28 KB. */
export const teams: NotificationTarget = {
  id: 'teams',
  via: 'http',
  build(content, delivery) {
    const message = messageOf(content, delivery);
    const { severity, code, button, links } = message;
    const rendered = renderedOf(message, markup.escape);
    const card = {
      $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
      type: 'AdaptiveCard',
      version: '1.4',
      msteams: { width: 'Full' },
      body: [
        {
          type: 'Container',
          style: styles[severity],
          bleed: true,
          items: [
            rendered === undefined
              ? plain([headingOf(message), { weight: 'Bolder', size: 'Medium' }])
              : { type: 'TextBlock', text: rendered, wrap: true },
          ],
        },
        ...factsOf(message),
        ...(code === undefined ? [] : [plain(['To approve: '], [code, { fontType: 'Monospace' }])]),
        ...links.map(({ text, url }) => ({ type: 'TextBlock', text: markdown.link(text, url), wrap: true })),
      ],
      ...(button && { actions: [{ type: 'Action.OpenUrl', title: button.text, url: button.url }] }),
    };
    const attachments = [{ contentType: 'application/vnd.microsoft.card.adaptive', content: card }];
    return { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ type: 'message', attachments }) };
  },
};

function factsOf(message: Message): object[] {
  const most = maxLengthOf(message);
  const { facts, notes } = message;
  const set = { type: 'FactSet', facts: facts.map((fact) => ({ title: fact.label, value: formatFact(fact, markup, most) })) };
  return [
    ...(facts.length > 0 ? [set] : []),
    ...notes.map((note) => plain([`${note.label}: `, { weight: 'Bolder' }], [formatFact(note, verbatim, most)])),
  ];
}

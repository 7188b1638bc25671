import type { Fact } from '../fact.ts';
import { encodeHtml, html } from '../html.ts';
import { formatFact, maxLengthOf, plainText, renderedOf, textOf } from '../markup.ts';
import { headingOf, messageOf, type Message, type NotificationTarget } from '../message.ts';
import { looks } from '../looks.ts';

/** A mail by SMTP: https://www.rfc-editor.org/rfc/rfc5321, as plain text and as HTML, which loads nothing. */
export const email: NotificationTarget = {
  id: 'email',
  via: 'smtp',
  build(content, delivery) {
    const message = messageOf(content, delivery);
    return { headers: { subject: `[image-watcher] ${message.title}` }, body: `${textOf(message, plainText)}\n`, html: htmlOf(message) };
  },
};

function htmlOf(message: Message): string {
  const { severity, facts, notes, code, button, links } = message;
  const { color } = looks[severity];
  const most = maxLengthOf(message);
  const row = (fact: Fact) =>
    `<tr><td style="padding:2px 12px 2px 0;color:#666;vertical-align:top">${encodeHtml(fact.label)}</td><td>${formatFact(fact, html, most)}</td></tr>`;
  const rendered = renderedOf(message, plainText.escape);
  const body =
    rendered === undefined
      ? [
          `<h2 style="font-size:18px;margin:0 0 8px">${html.escape(headingOf(message))}</h2>`,
          `<table style="border-collapse:collapse;font-size:14px">${[...facts, ...notes].map(row).join('')}</table>`,
        ]
      : [`<p style="margin:0;white-space:pre-wrap">${encodeHtml(rendered)}</p>`];
  const command = code === undefined ? [] : [`<p>To approve: <code>${html.name(code)}</code></p>`];
  const main = button
    ? [
        `<p><a href="${encodeHtml(button.url)}" style="display:inline-block;padding:6px 14px;background:${color};color:#fff;text-decoration:none">${encodeHtml(button.text)}</a></p>`,
      ]
    : [];
  const more = links.map(({ text, url }) => `<p style="margin:4px 0"><a href="${encodeHtml(url)}">${encodeHtml(text)}</a></p>`);
  const style = `border-left:4px solid ${color};padding:4px 12px;font-family:sans-serif;font-size:14px`;
  return `<div style="${style}">\n${[...body, ...command, ...main, ...more].join('\n')}\n</div>\n`;
}

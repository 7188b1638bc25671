/** Markdown in the form that most chats support. */
import type { Markup } from './message.ts';

/** Escapes Markdown: a backslash escapes markup; an invisible word joiner breaks mentions, addresses and Slack's `<!channel>`, which Mattermost reads. */
export const markdown: Markup = {
  escape: (text) => text.replaceAll(/[\\*_~`|<>[\]()#]/g, '\\$&').replaceAll(/[@<]|:(?=\/\/)|www(?=\.)/gi, '$&\u2060'),
  bold: (text) => `**${text}**`,
  code: (text) => `\`${text}\``,
  link: (text, url) => `[${text}](${url})`,
};

/** Markdown, as most chats read it. */
import type { Markup } from './message.ts';

/** A backslash keeps markup from being read as such; a word joiner (invisible) does so for mentions and addresses, and for the `<!channel>` that Mattermost takes from Slack. */
export const markdown: Markup = {
  escape: (text) => text.replaceAll(/[\\*_~`|<>[\]()#]/g, '\\$&').replaceAll(/[@<]|:(?=\/\/)|www(?=\.)/gi, '$&\u2060'),
  bold: (text) => `**${text}**`,
  code: (text) => `\`${text}\``,
  link: (text, url) => `[${text}](${url})`,
};

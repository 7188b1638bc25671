import type { NotificationTarget } from '../message.ts';
import { discord } from './discord.ts';
import { email } from './email.ts';
import { googleChat } from './google-chat.ts';
import { incidentIo } from './incident-io.ts';
import { mattermostBot } from './mattermost-bot.ts';
import { mattermost } from './mattermost.ts';
import { matrix } from './matrix.ts';
import { opsgenie } from './opsgenie.ts';
import { pagerduty } from './pagerduty.ts';
import { slackBot } from './slack-bot.ts';
import { slack } from './slack.ts';
import { teams } from './teams.ts';
import { telegram } from './telegram.ts';
import { webhook } from './webhook.ts';

/** Every type of target by its name in the configuration. */
export const targets: Readonly<Record<NotificationTarget['id'], NotificationTarget>> = {
  slack,
  slackBot,
  mattermost,
  mattermostBot,
  discord,
  teams,
  googleChat,
  webhook,
  email,
  pagerduty,
  opsgenie,
  incidentIo,
  telegram,
  matrix,
};

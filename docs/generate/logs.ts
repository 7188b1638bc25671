import { logActions } from '../explanations/log-messages.ts';
import { logFields } from '../../src/service/telemetry/log-fields.ts';
import { logMessages } from '../../src/service/telemetry/log-messages.ts';
import { code, table } from './markdown.ts';
import { linkedFromElsewhere } from './reasons.ts';
import type { Parts } from './template.ts';

/** The parts of docs/templates/logs.md. */
export const logParts: Parts = {
  fields: () =>
    table(
      ['Field', 'Meaning'],
      Object.entries(logFields).map(([name, meaning]) => [code(name), meaning]),
    ),
  messages: () =>
    table(
      ['Message', 'Level', 'Meaning', 'What to do'],
      (Object.keys(logMessages) as (keyof typeof logMessages)[]).map((message) => {
        const { levels, meaning } = logMessages[message];
        return [code(message), levels.join(', '), meaning, linkedFromElsewhere(logActions[message]) || 'Nothing.'];
      }),
    ),
};

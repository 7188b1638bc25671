import { logFields } from '../../src/telemetry/log-fields.ts';
import { logMessages } from '../../src/telemetry/log-messages.ts';
import { code, table } from './markdown.ts';
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
      ['Message', 'Level', 'Meaning'],
      Object.entries(logMessages).map(([message, { levels, meaning }]) => [code(message), levels.join(', '), meaning]),
    ),
};

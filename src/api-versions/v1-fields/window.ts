import { z } from 'zod';
import { fieldOf, withChecks, withRules } from '../rules.ts';
import { checkTimeZone } from '../validation/check-time-zone.ts';
import { distinct } from './scalars.ts';

const time = (what: string) =>
  z
    .string()
    .max(5)
    .regex(/^(?:[01][0-9]|2[0-3]):[0-5][0-9]$/, 'a time of the day from "00:00" to "23:59"')
    .describe(`${what} HH:MM in the time zone of the window.`);

/** One of `spec.update.windows`. */
export const window = withRules(
  z
    .object({
      days: distinct(
        z
          .array(z.enum(['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']).describe('A day.'))
          .min(1)
          .max(7)
          .describe('Days on which the window starts; without it every day.'),
      ).optional(),
      from: time('When it opens.'),
      to: time('When it closes; earlier than "from" means on the next day.'),
      timeZone: withChecks(z.string().min(1).max(64).describe('IANA time zone, such as "Europe/Berlin".'), checkTimeZone).default('UTC'),
    })
    .describe('A time of the week.'),
  [
    {
      rule: '!has(self.from) || !has(self.to) || self.from != self.to',
      message: 'from and to are the same time: write when the window closes',
      holds: (self) => fieldOf(self, 'from') !== fieldOf(self, 'to') || fieldOf(self, 'from') === undefined,
    },
  ],
);

/** Keel's own default. */
const usual = '1m';
const named: Readonly<Record<string, string>> = { '@hourly': '1h', '@daily': '24h', '@midnight': '24h', '@weekly': '168h' };

/** What `keel.sh/pollSchedule` means as `poll.interval`; without an interval where it is a cron expression. */
export function convertPollSchedule(schedule: string | undefined): { interval?: string; note?: string } {
  if (schedule === undefined)
    return { interval: usual, note: "Polled every minute, as Keel does: with the registry's webhook 1h is enough." };
  const interval = named[schedule] ?? /^@every\s+((?:[0-9]+h)?(?:[0-9]+m)?(?:[0-9]+s)?)$/.exec(schedule)?.[1];
  if (interval !== undefined && /[1-9]/.test(interval)) return { interval };
  return { note: `The schedule "${schedule}" has no counterpart: the poll is that of the configuration (poll.interval).` };
}

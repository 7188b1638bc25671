import type { TargetReason } from '../../core/model/notification-target.ts';

/** The texts of the page "Setup and health". */
export const setupEn = {
  copy: 'Copy',
  copied: 'Copied',
  steps: (provider: string) => `How to set it up (${provider})`,
  states: {
    delivers: 'Delivers',
    refused: 'Refused its last delivery',
    waits: 'Waits for the first delivery',
  },
  /** What an answer to a sender is about. */
  answers: {
    '200': 'accepted; no push was in it',
    '202': 'accepted',
    '400': 'cannot be read',
    '401': 'the secret is another one: compare the one that the sender has with the one of the receiver',
    '404': 'the URL is wrong',
    '408': 'the body came too slowly',
    '413': 'too large',
    '415': 'not JSON',
    '429': 'too many requests: raise requestsPerMinute of the receiver',
    '431': 'the headers are too large',
    '503': 'Redis could not store it: the sender has to try again',
  },
  lastIgnored: 'Last ignored',
  lastRefused: 'Last refused',
};

/** The texts about the doctor. */
export const doctorEn = {
  title: 'The doctor',
  allWell: 'Nothing needs somebody.',
  needs: (count: number) => (count === 1 ? '1 finding needs somebody.' : `${count} findings need somebody.`),
  checked: 'checked',
  certificates: 'Certificates',
  others: (count: number) => `${count} more: in order, or not checked`,
  levels: { ok: 'in order', failed: 'act', warning: 'check', skipped: 'not checked' },
};

/** The texts about the targets of notifications. */
export const notifyingEn = {
  title: 'Notification targets',
  none: 'There are no targets of notifications.',
  target: 'Target',
  kind: 'Type',
  state: 'State',
  lastAccepted: 'Last accepted',
  lastFailed: 'Last failed',
  test: 'Send a test',
  testOf: (target: string) => `Send a test to ${target}`,
  byCommand: 'Where the configuration is, a command sends a test:',
  accepted: (target: string) => `${target} has accepted the test message.`,
  notAccepted: (target: string) => `${target} has not accepted the test message:`,
  reasons: {
    Configured: 'No message yet',
    Delivered: 'Accepts messages',
    Suspended: 'Suspended',
    InvalidTarget: 'Not understood',
    SecretNotUsable: 'No usable Secret',
    HostNotAllowed: 'Host not allowed',
    TooManyTargets: 'One too many',
    NotAccepted: 'Fails',
  } satisfies Record<TargetReason, string>,
};

/** The texts about what runs. */
export const runningEn = {
  title: 'What runs',
  kubernetes: 'API server',
  process: 'Process',
  roles: 'Roles',
  version: 'Version',
  started: 'Started',
  otherVersion: 'another version',
  withoutRedis: 'Processes with the roles convert and web alone do not use Redis, and are not listed.',
};

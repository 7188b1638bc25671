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

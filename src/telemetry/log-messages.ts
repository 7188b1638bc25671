/** Every line of the log there is, in one list: a message that is not here cannot be written. */

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

interface Line {
  readonly levels: readonly LogLevel[];
  readonly meaning: string;
}

/** By message. Two levels: told at the higher one first, and at the lower one when it says nothing new. */
export const logMessages = {
  started: { levels: ['info'], meaning: 'The listeners are up; what is behind them may come later' },
  stopping: { levels: ['info'], meaning: 'Somebody asked the process to end: nothing new is taken' },
  stopped: { levels: ['info'], meaning: 'Everything in hand is finished or handed back' },
  'stopping after an unexpected error': {
    levels: ['error'],
    meaning: 'A bug of ours ends the process; what was in hand is taken up by another',
  },

  'push accepted': { levels: ['debug'], meaning: 'A webhook announced a tag, and Redis has it' },
  'push ignored': {
    levels: ['debug'],
    meaning:
      'What a webhook announced is no push of an image that could be stored; `reason` and `why` say why. `event` is absent: nothing is stored',
  },
  'push not watched': { levels: ['debug'], meaning: 'No policy watches the repository of a push (`NoPolicy`)' },
  'policy reconciled': {
    levels: ['debug'],
    meaning: 'A reconcile of a policy ended: `outcome` in a word, `reason` and `why` for it; of a push that changed nothing as well',
  },
  'delivery not authentic': { levels: ['warn', 'debug'], meaning: 'Answered 401; `why` is what the sender is not told. Each reason once' },
  'delivery not understood': { levels: ['warn', 'debug'], meaning: 'Authentic, but not what the provider sends: is it the right one?' },
  'delivery refused': {
    levels: ['warn'],
    meaning: 'Answered 503: Redis could not take it, and the sender has to come again; or 413: it holds too many pushes',
  },
  'delivery failed': { levels: ['error'], meaning: 'Answered 500 because of a bug of ours' },
  'a secret is so short that it can be guessed': { levels: ['warn'], meaning: 'Of a receiver: make it longer' },
  'a secret has changed': { levels: ['info'], meaning: 'Its file has another value, which counts from now on' },
  'a secret cannot be read again, the old one stays': { levels: ['warn'], meaning: 'Its file is gone or empty' },
  'keys of a sender cannot be had': { levels: ['warn'], meaning: 'What it signs cannot be checked meanwhile, and is answered 503' },
  'subscription confirmed': { levels: ['info'], meaning: 'An SNS topic delivers from now on' },
  'subscription not confirmed: ask SNS to send the confirmation again': { levels: ['warn'], meaning: 'Its address did not answer' },
  'event replayed': { levels: ['info'], meaning: 'Somebody had a push done once more' },

  'workload updated': { levels: ['info'], meaning: 'A workload has another image' },
  'update blocked': { levels: ['info'], meaning: 'Guards keep a policy from changing something, or a rollback could not be done' },
  'policy stalled': { levels: ['info'], meaning: 'Somebody has to do something; `why` says what' },
  'policy waits': { levels: ['info'], meaning: 'Something is selected, and applied at a later time' },
  rollout: { levels: ['info'], meaning: 'The rollout of a workload ended; `reason` says how' },
  rollouts: { levels: ['info'], meaning: 'The same of many workloads at once' },
  'the registry does not hold what runs any more': { levels: ['info'], meaning: 'Its tag is gone: a new pod could not pull it' },
  "found by polls, not announced: check the registry's webhook, the receiver's URL, and image-watcher events": {
    levels: ['warn'],
    meaning: 'A registry with a webhook that does not arrive',
  },
  'reconcile failed, will be repeated': { levels: ['warn', 'debug'], meaning: 'A look at a policy failed or has to wait' },
  'rollout check failed, will be repeated': { levels: ['warn'], meaning: 'The same of the rollouts of a policy' },
  'pods of a rollout could not be read': { levels: ['warn'], meaning: 'The rollout is judged by the workload alone' },
  'failure could not be reported': {
    levels: ['warn'],
    meaning: 'Neither status nor audit record tell of a failed look; it is repeated all the same',
  },
  'shared manifest request failed': { levels: ['debug'], meaning: 'Each of several policies asks the registry for itself' },
  'event not recorded': { levels: ['warn'], meaning: 'The API server did not take a Kubernetes Event; nothing else hangs on it' },

  'registry fails, and is left alone for a while': { levels: ['warn'], meaning: 'Its circuit is open: policies wait' },
  'registry failed, details': {
    levels: ['info', 'debug'],
    meaning:
      "What the author of a policy is not told: users of the service's own credentials, and how private addresses answer that the configuration does not name. Once a minute for a host at info",
  },
  'registry answers again': { levels: ['info'], meaning: 'Its circuit is closed' },

  'crossNamespace: legacy lets policies update workloads of other namespaces without consent: run "image-watcher consents", then use consent':
    {
      levels: ['warn'],
      meaning: 'At each start with that setting: it is meant for the time of an upgrade',
    },
  'caches are complete': { levels: ['info'], meaning: 'The worker knows policies and workloads, and takes jobs' },
  watch: { levels: ['warn'], meaning: 'A watch of the API server failed, and is begun again' },
  'an optional watch is forbidden': { levels: ['info'], meaning: 'A permission is missing; `without` says what it costs' },
  'jobs not enqueued, will be repeated': { levels: ['warn'], meaning: 'Jobs could not be put into the queue; tried again' },
  queue: { levels: ['warn'], meaning: 'A queue reports trouble with Redis' },
  'redis answers': { levels: ['info'], meaning: 'Redis is there, and keeps what is accepted' },
  'redis answers, but may lose accepted pushes': { levels: ['warn'], meaning: 'No AOF, or eviction' },
  'redis is nearly full: what is done is forgotten early': {
    levels: ['warn'],
    meaning: 'Give it more memory, or find out who sends so much',
  },
  'no room could be made in redis': { levels: ['warn'], meaning: 'It is nearly full, and forgetting what is done failed; tried again' },
  'no room for a record': { levels: ['debug'], meaning: 'Redis is full: what became of a push is done, and told by the status alone' },
  'redis does not answer': { levels: ['warn'], meaning: 'Receivers answer 503, workers wait' },
  'redis connection': { levels: ['debug'], meaning: 'An error of one connection; it is opened again' },
  'push queue': { levels: ['debug'], meaning: 'An error of the queue that receivers write to' },
  'waiting times': { levels: ['debug'], meaning: 'The age of the queues could not be read' },
  events: { levels: ['debug'], meaning: 'An error of the queue that the API reads' },
  'events cannot be read': { levels: ['warn'], meaning: 'A request to the API was answered 503' },
  'caller cannot be authenticated': { levels: ['warn'], meaning: 'The API server did not say who asks the API' },

  'conversion certificate in use': { levels: ['info'], meaning: 'The conversion listener has another certificate' },
  'conversion certificate renewed': { levels: ['info'], meaning: 'The Secret has a new one' },
  'conversion certificate: will try again': {
    levels: ['warn'],
    meaning: 'Secret or CustomResourceDefinition could not be read or written',
  },
  'conversion certificate: the files cannot be used as they are': { levels: ['warn'], meaning: 'The former ones stay in use' },
  'the API server trusts the conversion certificate now': {
    levels: ['info'],
    meaning: 'The caBundle of the CustomResourceDefinition was written',
  },
  'conversion is off: the CustomResourceDefinition has v1 alone, and no webhook': {
    levels: ['info'],
    meaning: 'No certificate authority is kept until that changes',
  },
  caBundle: { levels: ['debug'], meaning: 'It needed no change, or is not ours' },
  'conversion refused': {
    levels: ['warn', 'debug'],
    meaning: 'Somebody, perhaps the API server, sent what cannot be converted, or too much of it. A warning every ten seconds at most',
  },
  'conversion client refused': { levels: ['debug'], meaning: 'A TLS handshake with the conversion listener failed' },
  'conversion failed': { levels: ['error'], meaning: 'A bug of ours' },

  'traces cannot be exported, and are lost until they can': { levels: ['warn'], meaning: 'The collector does not answer, or refuses' },
  'traces are exported again': { levels: ['info'], meaning: 'The collector is well again' },
  'traces are incomplete: spans come faster than the collector takes them': {
    levels: ['warn', 'debug'],
    meaning: 'Lower `traces.sampleRatio`',
  },
  'trace memory': { levels: ['debug'], meaning: 'Redis did not say or keep to which trace a rollout belongs: it gets one of its own' },
} as const satisfies Readonly<Record<string, Line>>;

/** The messages that may be written at a level. */
export type LogMessage<L extends LogLevel> = {
  [M in keyof typeof logMessages]: L extends (typeof logMessages)[M]['levels'][number] ? M : never;
}[keyof typeof logMessages];

/** Every log message. The logger accepts no other messages. */

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

interface Line {
  readonly levels: readonly LogLevel[];
  readonly meaning: string;
}

/** The levels of each message. With two levels, it is logged at the higher one first, and at the lower one when it is repeated. */
export const logMessages = {
  started: { levels: ['info'], meaning: 'The listeners are up; connections to Redis and the API server may still be missing' },
  stopping: { levels: ['info'], meaning: 'The process received a signal to stop, and accepts no new work' },
  stopped: { levels: ['info'], meaning: 'All work in progress is finished or back in the queue' },
  'stopping after an unexpected error': {
    levels: ['error'],
    meaning: 'A bug in image-watcher ends the process; other replicas take over its work',
  },

  'push accepted': { levels: ['debug'], meaning: 'A webhook announced a tag, and Redis has stored it' },
  'push ignored': {
    levels: ['debug'],
    meaning:
      'An announced item is not a push of an image that can be stored; `reason` and `why` give the reason. No push is stored; `image-watcher events --outcome ignored` shows it',
  },
  'push not watched': { levels: ['debug'], meaning: 'No policy watches the repository of a push (`NoPolicy`)' },
  'policy reconciled': {
    levels: ['debug'],
    meaning: 'A reconcile of a policy ended, also one that changed nothing: `outcome` is the result, `reason` and `why` explain it',
  },
  'delivery not authentic': {
    levels: ['warn', 'debug'],
    meaning: 'Answered 401; `why` is the reason, which the sender does not get. Each reason is logged once',
  },
  'delivery not understood': { levels: ['warn', 'debug'], meaning: 'Authentic, but not in the format of the configured provider' },
  'delivery refused': {
    levels: ['warn'],
    meaning: 'Answered 503: Redis could not store it, and the sender should retry; or 413: it has too many entries',
  },
  'delivery failed': { levels: ['error'], meaning: 'Answered 500 because of a bug in image-watcher' },
  'a secret is short enough to be guessed': { levels: ['warn'], meaning: 'The secret of a receiver is too short: use a longer one' },
  'a secret has changed': { levels: ['info'], meaning: 'The file of a secret has a new value, which is in use from now on' },
  'a secret cannot be read again, the old value stays in use': { levels: ['warn'], meaning: 'The file of a secret is missing or empty' },
  'keys of a sender could not be fetched': {
    levels: ['warn'],
    meaning: 'Signatures of the sender cannot be verified meanwhile, and its deliveries are answered 503',
  },
  'subscription confirmed': { levels: ['info'], meaning: 'An SNS topic delivers from now on' },
  'subscription not confirmed: ask SNS to send the confirmation again': {
    levels: ['warn'],
    meaning: 'The confirmation address of SNS did not answer',
  },
  'notification target tested': { levels: ['info'], meaning: 'A user had a test message sent to a target of notifications' },
  'event replayed': { levels: ['info'], meaning: 'A user replayed a push' },
  'action requested': { levels: ['info'], meaning: 'A user acted on a policy through the API' },

  'user signed in to the dashboard': { levels: ['info'], meaning: 'A user signed in with a token, or at the identity provider' },
  'sign-in at the identity provider failed': {
    levels: ['warn'],
    meaning: 'The identity provider did not answer, or did not confirm a user; `why` is its answer',
  },
  'page of the dashboard cannot be shown': { levels: ['error'], meaning: 'Answered 500 because of a bug in image-watcher' },

  'workload updated': { levels: ['info'], meaning: 'The image of a workload was changed' },
  'update blocked': { levels: ['info'], meaning: 'A guard blocks an update, or a rollback was refused' },
  'base policy reconciled': { levels: ['debug'], meaning: 'A reconcile of a BaseImagePolicy ended; the fields count the images' },
  'base policies cannot be watched': {
    levels: ['info'],
    meaning: 'The definition of BaseImagePolicy is not installed, or may not be read; there are no base policies until it is',
  },
  'notification targets cannot be watched': {
    levels: ['info'],
    meaning:
      'The definition of NotificationTarget is not installed, or may not be read; only the targets of the configuration are notified until it is',
  },
  'notification target not checked': {
    levels: ['warn'],
    meaning: 'The status of a NotificationTarget could not be written; `why` is the error. It is checked again within a minute',
  },
  'rebuild requested': { levels: ['info'], meaning: 'A CI system accepted the request to rebuild a source on a new base' },
  'rebuild not accepted': {
    levels: ['warn'],
    meaning: 'A CI system did not accept a request; `why` is its answer. It is sent again for a day, unless the request itself is wrong',
  },
  'certificates not checked': {
    levels: ['warn'],
    meaning: 'Whether certificates of the service end soon is not known; `why` is the error. Checked again in an hour',
  },
  'activity not recorded': {
    levels: ['warn'],
    meaning:
      'Redis did not record what happened or was asked for; `why` is the error, and `count` says how much is missing in the record of activity. Statuses, Events and audit records of pushes are written all the same',
  },
  'record not written, will be repeated': {
    levels: ['warn'],
    meaning:
      'The folder or the bucket of the setting `record` does not accept what is to be kept; `why` is the error. The entries stay in Redis, of which 50,000 have room. Logged once until it is another error',
  },
  'notices not stored': {
    levels: ['warn'],
    meaning: 'Redis did not store the notifications about a status; `why` is the error. The status was written all the same',
  },
  'notice not accepted': {
    levels: ['warn'],
    meaning: 'A target did not accept a notification; `why` is its answer. It is sent again for a day',
  },
  'notice given up': {
    levels: ['warn'],
    meaning:
      'A target did not accept a notification for a day, or refused the message itself; it is not sent again. `event` is the push that it was about',
  },
  'base policy is gone': { levels: ['debug'], meaning: 'A BaseImagePolicy was deleted before its job ran' },
  'reconcile of a base policy failed': {
    levels: ['warn'],
    meaning: 'The base or the images could not be examined; `why` is the error. It is retried, unless the policy must be changed',
  },
  'check has a verdict': {
    levels: ['info'],
    meaning: 'A check of a policy (`rollout.checks`) gave its verdict on an image; `why` is the answer',
  },
  'policy stalled': { levels: ['info'], meaning: 'The policy needs a user to act; `why` says what is wrong' },
  'policy waiting': { levels: ['info'], meaning: 'An image is selected and will be applied later' },
  'rollout finished': { levels: ['info'], meaning: 'The rollout of a workload ended; `reason` is the result' },
  'rollouts finished': { levels: ['info'], meaning: 'The rollouts of many workloads ended together' },
  'registry no longer has the running tag': {
    levels: ['info'],
    meaning: 'The tag that a workload runs was deleted: a new pod could not pull it',
  },
  "found by polls, not announced: check the registry's webhook, the receiver's URL, and image-watcher events": {
    levels: ['warn'],
    meaning: 'The webhooks of a registry do not arrive',
  },
  'reconcile failed, will be repeated': { levels: ['warn', 'debug'], meaning: 'The reconcile of a policy failed or has to wait' },
  'rollout check failed, will be repeated': { levels: ['warn'], meaning: 'A check of the rollouts of a policy failed' },
  'workload restarted after a change': {
    levels: ['info'],
    meaning: 'A workload was restarted for a change of a ConfigMap; `why` names the change',
  },
  'restart after a change failed, will be repeated': {
    levels: ['warn'],
    meaning: 'A workload that a ConfigMap restarts could not be restarted',
  },
  'pods of a rollout could not be read': { levels: ['warn'], meaning: 'The rollout is evaluated from the workload alone' },
  'failure could not be reported': {
    levels: ['warn'],
    meaning: 'A failed reconcile appears neither in the status nor in the audit record; it is retried nevertheless',
  },
  'shared manifest request failed': { levels: ['debug'], meaning: 'Each policy asks the registry itself instead of sharing one answer' },
  'event not recorded': { levels: ['warn'], meaning: 'The API server did not accept a Kubernetes Event; nothing else depends on it' },

  'registry failing, circuit open': { levels: ['warn'], meaning: 'No requests go to the registry for a while; policies wait' },
  'registry failed, details': {
    levels: ['info', 'debug'],
    meaning:
      "Details that statuses do not show: user names of the service's own credentials, and answers of private addresses that the configuration does not name. At most once a minute per host at info",
  },
  'registry answering, circuit closed': { levels: ['info'], meaning: 'Requests go to the registry again' },

  'crossNamespace: legacy lets policies update workloads of other namespaces without consent: run "image-watcher consents", then use consent':
    {
      levels: ['warn'],
      meaning: 'Logged at each start with that setting, which is only for upgrades',
    },
  'caches are complete': { levels: ['info'], meaning: 'The worker has read all policies and workloads, and starts to process jobs' },
  'watch failed, will be repeated': { levels: ['warn'], meaning: 'A watch of the API server failed and is opened again' },
  'an optional watch is forbidden': { levels: ['info'], meaning: 'A permission is missing; `without` names what does not work without it' },
  'jobs not enqueued, will be repeated': { levels: ['warn'], meaning: 'Jobs could not be added to the queue' },
  'queue connection error': {
    levels: ['warn', 'debug'],
    meaning:
      'A command of a worker queue failed; at debug if it lost its connection to Redis, which is reported once, as `redis does not answer`',
  },
  'redis answers': { levels: ['info'], meaning: 'Redis is reachable and durable' },
  'redis answers, but not with the database of its URL': {
    levels: ['warn'],
    meaning: 'Redis has no such database, and database 0 is used; `setting` shows where the URL is written',
  },
  'redis answers, but may lose accepted pushes': { levels: ['warn'], meaning: 'Redis is reachable, but has no AOF or evicts keys' },
  'redis nearly full, finished work is trimmed early': {
    levels: ['warn'],
    meaning: 'Give Redis more memory, or find out which sender announces so many pushes',
  },
  'redis could not be trimmed': { levels: ['warn'], meaning: 'Redis is nearly full, and removing finished work failed; it is retried' },
  'redis full, record not written': {
    levels: ['debug'],
    meaning: 'Redis is full: the result of a push is in the status of its policies, but not in the audit record',
  },
  'redis does not answer': {
    levels: ['warn'],
    meaning:
      'Receivers answer 503, workers wait; `why` is the error, `setting` what to correct and where it is written, `remedy` how. Logged when it begins or changes',
  },
  'redis connection error': { levels: ['debug'], meaning: 'One connection failed and is opened again' },
  'push queue error': { levels: ['debug'], meaning: 'The queue that receivers write to failed' },
  'ages of queues could not be read': { levels: ['debug'], meaning: 'The age of the queues could not be read' },
  'event queue error': { levels: ['debug'], meaning: 'The queue that the API reads failed' },
  'events cannot be read': { levels: ['warn'], meaning: 'A request to the API was answered 503' },
  'caller cannot be authenticated': { levels: ['warn'], meaning: 'The API server could not authenticate a caller of the API' },

  'conversion certificate in use': { levels: ['info'], meaning: 'The conversion listener uses another certificate' },
  'conversion certificate renewed': { levels: ['info'], meaning: 'The Secret has a new certificate' },
  'conversion certificate failed, will be retried': {
    levels: ['warn'],
    meaning: 'Secret or CustomResourceDefinition could not be read or written',
  },
  'conversion certificate: the files cannot be used as they are': { levels: ['warn'], meaning: 'The previous files stay in use' },
  'the API server trusts the conversion certificate now': {
    levels: ['info'],
    meaning: 'The caBundle of the CustomResourceDefinition was written',
  },
  'conversion is off: the CustomResourceDefinition has v1 alone, and no webhook': {
    levels: ['info'],
    meaning: 'No certificate authority is kept until that changes',
  },
  'caBundle unchanged': { levels: ['debug'], meaning: 'The caBundle needed no change, or is managed by somebody else' },
  'conversion refused': {
    levels: ['warn', 'debug'],
    meaning: 'A conversion review was invalid or too large. At most one warning every ten seconds',
  },
  'conversion client refused': { levels: ['debug'], meaning: 'A TLS handshake with the conversion listener failed' },
  'conversion failed': { levels: ['error'], meaning: 'A bug in image-watcher' },

  'traces cannot be exported, and are lost until they can': {
    levels: ['warn'],
    meaning: 'The collector does not answer, or refuses the request',
  },
  'traces are exported again': { levels: ['info'], meaning: 'The collector answers again' },
  'traces are incomplete: spans come faster than the collector takes them': {
    levels: ['warn', 'debug'],
    meaning: 'Lower `traces.sampleRatio`',
  },
  'trace memory error': {
    levels: ['debug'],
    meaning: 'The trace of a rollout could not be read from Redis or stored there: the rollout gets a trace of its own',
  },
} as const satisfies Readonly<Record<string, Line>>;

/** The messages that may be written at a level. */
export type LogMessage<L extends LogLevel> = {
  [M in keyof typeof logMessages]: L extends (typeof logMessages)[M]['levels'][number] ? M : never;
}[keyof typeof logMessages];

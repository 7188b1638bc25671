import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { before, test } from 'node:test';
import { authentic, ProofUnavailable } from '../../../src/service/receive/authenticate.ts';
import { FetchRefused, type FetchText } from '../../../src/service/receive/fetch-text.ts';
import { createSigningCertificates } from '../../../src/service/receive/sns-client.ts';
import { createSnsProof, parseTopic } from '../../../src/service/receive/sns-proof.ts';
import { cpuCost } from './cpu-cost.ts';
import { certificateUrl, makeSigner, notification, now, topic, type Message } from './keys.ts';
import { blownUp, hostileBodies, megabyte } from './providers/hostile-bodies.ts';

let signer: Awaited<ReturnType<typeof makeSigner>>;
before(async () => (signer = await makeSigner()));

function start({ fetchText = () => Promise.resolve(signer.pem) }: { fetchText?: FetchText } = {}) {
  const world = { at: now.getTime(), fetched: [] as string[], confirmed: [] as string[], problems: [] as string[] };
  const findSigningKey = createSigningCertificates({
    fetchText: (url, signal) => {
      world.fetched.push(url);
      return fetchText(url, signal);
    },
    now: () => new Date(world.at),
    onError: (error) => void world.problems.push(error.message),
  });
  const verify = createSnsProof({ topics: [topic, otherTopic], findSigningKey, confirm: (_topic, url) => void world.confirmed.push(url) });
  const judge = async (message: Message, headers: Record<string, string> = {}) => {
    const result = await verify({ headers, body: Buffer.from(JSON.stringify(message)) });
    if (result.kind === 'authentic') result.onAdmitted?.();
    return result.kind === 'authentic' ? authentic : result;
  };
  return Object.assign(world, { judge });
}

const otherTopic = `${topic}-other`;

/** The address of a certificate that nobody has. */
const madeUp = (index: number) => certificateUrl.replace('0123456789abcdef', index.toString(16).padStart(16, '0'));

const confirmation: Message = {
  ...notification,
  Type: 'SubscriptionConfirmation',
  Message: 'You have chosen to subscribe to the topic',
  Token: '2336412f37fb687f5d51e6e2425f',
  SubscribeURL: 'https://attacker.example.com/?x=1',
};

test('SNS notifications of both signature versions are accepted, with and without a subject', async () => {
  const world = start();
  for (const SignatureVersion of ['1', '2'])
    for (const more of [{}, { Subject: 'a subject' }, { Subject: '' }, { Message: 'ünï\ncödé "\\"' }]) {
      assert.deepEqual(await world.judge(signer.signed({ ...notification, SignatureVersion, ...more })), { kind: 'authentic' });
    }
  assert.deepEqual(world.fetched, [certificateUrl]);
  assert.deepEqual(world.confirmed, []);
});

test('a subscription of a configured SNS topic is confirmed at a URL that is not taken from the message', async () => {
  const world = start();
  assert.deepEqual(await world.judge(signer.signed(confirmation)), { kind: 'authentic' });
  assert.deepEqual(world.confirmed, [
    `https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&TopicArn=${encodeURIComponent(topic)}&Token=2336412f37fb687f5d51e6e2425f`,
  ]);
  await world.judge({ ...confirmation, Signature: '' });
  assert.equal(world.confirmed.length, 1);
  assert.deepEqual(await world.judge(signer.signed({ ...confirmation, Type: 'UnsubscribeConfirmation' })), { kind: 'authentic' });
  assert.equal(world.confirmed.length, 1);
});

test('an SNS message with any signed field changed is refused', async () => {
  const world = start();
  const signed = signer.signed({ ...notification, Subject: 'a' });
  for (const field of ['Message', 'MessageId', 'Subject', 'Timestamp']) {
    assert.equal((await world.judge({ ...signed, [field]: 'changed' })).kind, 'refused', field);
  }
  assert.equal((await world.judge({ ...signed, SignatureVersion: '2' })).kind, 'refused');
  assert.equal((await world.judge({ ...signed, Signature: 'AAAA' })).kind, 'refused');
  assert.equal((await world.judge({ ...signed, Signature: 'not base64 !' })).kind, 'refused');
});

test('an SNS message of another topic, or with a foreign certificate URL, is refused without any request', async () => {
  const world = start();
  const file = 'SimpleNotificationService-0123456789abcdef0123456789abcdef.pem';
  const wrong: Message[] = [
    { ...notification, TopicArn: topic.replace('123456789012', '999999999999') },
    { ...notification, TopicArn: `${topic}-2` },
    ...[
      `https://attacker.example.com/${file}`,
      `https://sns.eu-west-1.amazonaws.com.attacker.example.com/${file}`,
      `https://sns.us-east-1.amazonaws.com/${file}`,
      `https://sns.eu-west-1.amazonaws.com:8443/${file}`,
      `https://user@sns.eu-west-1.amazonaws.com/${file}`,
      `http://sns.eu-west-1.amazonaws.com/${file}`,
      `https://sns.eu-west-1.amazonaws.com/../${file}?x=1`,
      `https://sns.eu-west-1.amazonaws.com/other/${file}`,
      'https://sns.eu-west-1.amazonaws.com/?Action=GetTopicAttributes',
      `https://sns.eu-west-1.amazonaws.com/${file}%2f..%2fx`,
      'file:///etc/passwd',
      'nothing',
    ].map((SigningCertURL) => ({ ...notification, SigningCertURL })),
    { ...notification, SignatureVersion: '3' },
    { ...notification, Type: 'Other' },
    {},
  ];
  for (const message of wrong) assert.equal((await world.judge(signer.signed(message))).kind, 'refused', JSON.stringify(message));
  assert.deepEqual(world.fetched, []);
});

test('any SNS message from a stranger costs less than 5 ms', async () => {
  const { publicKey } = new X509Certificate(signer.pem);
  const verify = createSnsProof({ topics: [topic], findSigningKey: () => Promise.resolve(publicKey), confirm: () => undefined });
  const message = { ...signer.signed(notification), MessageId: 'changed', MessageAttributes: { a: { Type: 'String', Value: 'b' } } };
  const samples = [{ name: 'a notification', body: Buffer.from(JSON.stringify(message)) }];
  for (const size of [65_536, megabyte]) {
    for (const [name, body] of [...hostileBodies(size), ...blownUp(samples, size)]) {
      const cost = await cpuCost(5, async () => {
        assert.equal((await verify({ headers: {}, body })).kind, 'refused');
      });
      assert.ok(cost < 5, `${name} of ${size} bytes: ${cost} ms`);
    }
  }
});

test('a signed SNS message that is longer than any announcement of a push is refused', async () => {
  const world = start();
  assert.deepEqual(await world.judge(signer.signed({ ...notification, Message: 'x'.repeat(60_000) })), { kind: 'authentic' });
  assert.equal((await world.judge(signer.signed({ ...notification, Message: 'x'.repeat(65_536) }))).kind, 'refused');
});

test('an SNS certificate of another owner or outside its validity is refused, and nothing is decided without a certificate', async () => {
  const pems = [
    (await makeSigner({ name: 'www.amazonaws.com' })).pem,
    (await makeSigner({ name: 'sns.amazonaws.com.attacker.example.com', alternative: false })).pem,
    (await makeSigner({ days: -1 })).pem,
    'not a certificate',
  ];
  for (const pem of pems) {
    const judged = start({ fetchText: () => Promise.resolve(pem) }).judge(signer.signed(notification));
    if (pem.startsWith('not')) await assert.rejects(judged, ProofUnavailable);
    else assert.equal((await judged).kind, 'refused');
  }
  const other = await makeSigner();
  assert.equal((await start().judge(other.signed(notification))).kind, 'refused');
});

test('SNS signers of other regions are accepted', async () => {
  for (const name of ['sns-cn-north-1.amazonaws.com.cn', 'sns-signing.ap-east-1.amazonaws.com', 'sns.eu-west-1.amazonaws.com']) {
    const own = await makeSigner({ name, alternative: false });
    const world = start({ fetchText: () => Promise.resolve(own.pem) });
    assert.equal((await world.judge(own.signed(notification))).kind, 'authentic', name);
  }
});

test('during an outage of AWS an SNS message is neither accepted nor refused, and an unknown certificate is refused', async () => {
  let answer: () => Promise<string> = () => Promise.reject(new Error('connection refused'));
  const world = start({ fetchText: () => answer() });
  await assert.rejects(world.judge(signer.signed(notification)), ProofUnavailable);
  answer = () => Promise.reject(new FetchRefused(certificateUrl, 503));
  await assert.rejects(world.judge(signer.signed(notification)), ProofUnavailable);
  answer = () => Promise.reject(new FetchRefused(certificateUrl, 404));
  assert.equal((await world.judge(signer.signed(notification))).kind, 'refused');
  answer = () => Promise.resolve(signer.pem);
  assert.equal((await world.judge(signer.signed(notification))).kind, 'refused');
  assert.equal(world.fetched.length, 3);
  world.at += 31_000;
  assert.equal((await world.judge(signer.signed(notification))).kind, 'authentic');
});

test('made-up names of SNS certificates cause a bounded number of requests', async () => {
  const world = start({ fetchText: () => Promise.reject(new FetchRefused('x', 404)) });
  let unavailable = 0;
  for (let index = 0; index < 100; index++) {
    await world.judge({ ...signer.signed(notification), SigningCertURL: madeUp(index) }).catch(() => unavailable++);
  }
  assert.deepEqual([world.fetched.length, unavailable], [12, 88]);
});

test('made-up names of SNS certificates use up the share of their sender and topic only', async () => {
  const signers = { here: certificateUrl, there: certificateUrl.replace('0123', 'abcd') };
  const world = start({
    fetchText: (url) => (Object.values(signers).includes(url) ? Promise.resolve(signer.pem) : Promise.reject(new FetchRefused(url, 404))),
  });
  const flood = async (addresses: number) => {
    for (let index = 0; index < 200; index++) {
      // A stranger can write into the header, but not after what the proxy adds to it.
      const headers = { 'x-forwarded-for': `10.9.9.${index}, 203.0.113.${index % addresses}` };
      await world.judge({ ...notification, Signature: '', SigningCertURL: madeUp(index) }, headers).catch(() => undefined);
    }
  };
  await flood(1);
  assert.equal(world.fetched.length, 12);
  const amazon = { 'x-forwarded-for': '198.51.100.7' };
  assert.deepEqual(await world.judge(signer.signed(notification), amazon), { kind: 'authentic' });
  await flood(100);
  assert.equal(world.fetched.length, 60);
  const other = signer.signed({ ...notification, TopicArn: otherTopic, SigningCertURL: signers.there });
  assert.deepEqual(await world.judge(other, amazon), { kind: 'authentic' });
});

test('the genuine SNS certificate stays cached and is refreshed, however many names are made up', async () => {
  const world = start({
    fetchText: (url) => (url === certificateUrl ? Promise.resolve(signer.pem) : Promise.reject(new FetchRefused(url, 404))),
  });
  const judgeGenuine = () => world.judge(signer.signed(notification));
  const asked = () => world.fetched.filter((url) => url === certificateUrl).length;
  const flood = async (minutes: number) => {
    for (let index = 0; index < 20 * minutes; index++) {
      world.at += 3_000;
      await world.judge({ ...notification, Signature: '', SigningCertURL: madeUp(index) }).catch(() => undefined);
    }
  };
  assert.deepEqual(await judgeGenuine(), { kind: 'authentic' });
  await flood(10);
  assert.deepEqual([await judgeGenuine(), asked()], [{ kind: 'authentic' }, 1]);
  world.at += 24 * 3_600_000;
  await flood(2);
  assert.deepEqual([await judgeGenuine(), asked()], [{ kind: 'authentic' }, 2]);
});

test('an SNS certificate that cannot be refreshed is valid for another day, and is dropped when AWS has none', async () => {
  let answer: () => Promise<string> = () => Promise.resolve(signer.pem);
  const world = start({ fetchText: () => answer() });
  const judge = () => world.judge(signer.signed(notification));
  assert.equal((await judge()).kind, 'authentic');
  answer = () => Promise.reject(new Error('connection refused'));
  world.at += 25 * 3_600_000;
  assert.deepEqual([await judge(), await judge()], [{ kind: 'authentic' }, { kind: 'authentic' }]);
  assert.equal(world.fetched.length, 2);
  world.at += 24 * 3_600_000;
  await assert.rejects(judge(), ProofUnavailable);
  await assert.rejects(judge(), ProofUnavailable);
  assert.equal(world.fetched.length, 3);
  world.at += 30_000;
  answer = () => Promise.resolve(signer.pem);
  assert.equal((await judge()).kind, 'authentic');
  answer = () => Promise.reject(new FetchRefused(certificateUrl, 404));
  world.at += 25 * 3_600_000;
  assert.equal((await judge()).kind, 'refused');
});

test('SNS topics of all partitions are accepted, and invalid ones are refused', () => {
  const hostOf = (arn: string) => parseTopic(arn)?.host;
  assert.equal(hostOf(topic), 'sns.eu-west-1.amazonaws.com');
  assert.equal(hostOf('arn:aws-cn:sns:cn-north-1:123456789012:t'), 'sns.cn-north-1.amazonaws.com.cn');
  assert.equal(hostOf('arn:aws-us-gov:sns:us-gov-west-1:123456789012:t.fifo'), 'sns.us-gov-west-1.amazonaws.com');
  for (const arn of [
    '',
    'arn:aws:sqs:eu-west-1:123456789012:t',
    'arn:aws:sns:evil.example.com:123456789012:t',
    'arn:aws:sns:eu-west-1:1:t',
    `${topic}\n`,
  ]) {
    assert.equal(hostOf(arn), undefined, arn);
  }
});

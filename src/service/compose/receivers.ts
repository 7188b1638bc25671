/** The receivers of the configuration, with their ports. */
import type { ReceiverConfig } from '../config/settings.ts';
import { describeError } from '../../core/model/errors.ts';
import type { Receiver } from '../receive/answer-delivery.ts';
import { createConfirmation, createSigningCertificates } from '../receive/sns-client.ts';
import { createFetchText } from '../receive/fetch-text.ts';
import { googleIssuers, googleKeys, readRequiredClaims } from '../receive/issuers.ts';
import { createKeySet, type KeySet } from '../receive/key-set.ts';
import { createOidcProof } from '../receive/oidc-proof.ts';
import type { VerifyProof } from '../receive/authenticate.ts';
import { providers } from '../receive/providers/index.ts';
import { createSnsProof } from '../receive/sns-proof.ts';
import type { Foundation } from './foundation.ts';

/** Builds all receivers. `warm` fetches the keys of issuers before the first delivery needs them. */
export function openReceivers({ settings, logger, outbound }: Foundation): { receivers: readonly Receiver[]; warm: () => Promise<void> } {
  const onError = (error: Error) => logger.warn({ why: describeError(error) }, 'keys of a sender could not be fetched');
  const fetchText = createFetchText(outbound.dispatcher);
  const keySets = new Map<string, KeySet>();
  const keySetOf = (url: string): KeySet => {
    const keySet = keySets.get(url) ?? createKeySet({ url, fetchText, elapsed: () => performance.now(), onError });
    keySets.set(url, keySet);
    return keySet;
  };
  const findSigningKey = createSigningCertificates({ fetchText, now: () => new Date(), onError });
  const confirm = createConfirmation({
    fetchText,
    now: Date.now,
    // The result is logged without the address, which contains the token of the subscription.
    onResult({ arn }, isConfirmed) {
      if (isConfirmed) logger.info({ topic: arn }, 'subscription confirmed');
      else logger.warn({ topic: arn }, 'subscription not confirmed: ask SNS to send the confirmation again');
    },
  });

  const proofsOf = ({ oidc, sns }: ReceiverConfig): VerifyProof[] => {
    const proofs: VerifyProof[] = [];
    if (oidc !== undefined) {
      const issuers = oidc.issuer === undefined ? googleIssuers : [oidc.issuer];
      const findKey = keySetOf(oidc.jwksUri ?? googleKeys).find;
      const claims = readRequiredClaims(oidc.claims ?? {});
      proofs.push(createOidcProof({ issuers, audience: oidc.audience, email: oidc.email, claims, findKey, now: () => new Date() }));
    }
    if (sns !== undefined) proofs.push(createSnsProof({ topics: sns.topics, findSigningKey, confirm }));
    return proofs;
  };
  const receivers = settings.config.receivers.map((receiver): Receiver => {
    const provider = providers.find(({ id }) => id === receiver.provider);
    if (provider === undefined) throw new Error(`the provider ${receiver.provider} of receiver ${receiver.name} is not in the list`);
    return {
      name: receiver.name,
      provider,
      unauthenticated: receiver.unauthenticated,
      secrets: () => settings.secretsOf(receiver.name),
      proofs: proofsOf(receiver),
      registryOverride: receiver.registry,
      repositories: receiver.repositories,
      waitForScan: receiver.waitForScan,
      requestsPerMinute: receiver.requestsPerMinute,
      showsResults: receiver.showResults,
    };
  });
  return {
    receivers,
    async warm() {
      await Promise.all([...keySets.values()].map((keySet) => keySet.warm()));
    },
  };
}

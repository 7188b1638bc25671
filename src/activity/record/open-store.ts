/** Opens the place where the record is kept. */
import type { AwsCredentialIdentity } from '@smithy/types';
import type { RecordSettings } from '../../service/config/record.ts';
import type { Outbound } from '../../service/proxy/outbound.ts';
import { awsRequests } from '../../service/registry/credentials/aws-requests.ts';
import { createFolderStore } from './folder-store.ts';
import type { SegmentStore } from './store.ts';

export async function openStore(
  { place }: RecordSettings,
  { fetch, dispatcher }: Pick<Outbound, 'fetch' | 'dispatcher'>,
): Promise<SegmentStore> {
  if ('folder' in place) return createFolderStore(place.folder);
  // Most installations need no signatures of AWS.
  const { createBucketStore } = await import('./bucket-store.ts');
  const { key, ...bucket } = place;
  const credentials = key === undefined ? await ownIdentity(dispatcher) : () => Promise.resolve(key());
  return createBucketStore({ ...bucket, credentials, fetch });
}

/** The AWS identity of the process: that of its service account, its instance or its environment. */
async function ownIdentity(dispatcher: Outbound['dispatcher']): Promise<() => Promise<AwsCredentialIdentity>> {
  const { defaultProvider } = await import('@aws-sdk/credential-provider-node');
  return defaultProvider({ clientConfig: { requestHandler: awsRequests(dispatcher) } });
}

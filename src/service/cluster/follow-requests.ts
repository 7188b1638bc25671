import { newRequests, type IdentifiedActivity, type Requestable } from '../../core/model/activity.ts';
import type { StoreView, StoredObject } from '../kube/object-store.ts';

/** Notes every request that a policy gets, whoever writes it. What was written before the policies were listed is not noted. */
export function followRequests<P extends StoredObject & Requestable>(
  policies: StoreView<P>,
  kind: 'ImagePolicy' | 'BaseImagePolicy',
  note: (activities: readonly IdentifiedActivity[]) => void,
): void {
  policies.subscribe(({ type, object, previous }) => {
    if (type === 'deleted' || previous === undefined || previous.uid !== object.uid) return;
    const found = newRequests(kind, previous, object, new Date());
    if (found.length > 0) note(found);
  });
}

/** The list of Git hosts whose commits have statuses: a new one is a file here, a line here, a type in `core/model/notification-target.ts` and a row in the test. */
import type { StatusType } from '../../core/model/notification-target.ts';
import type { Forge } from '../commit-status.ts';
import { bitbucket } from './bitbucket.ts';
import { gitea } from './gitea.ts';
import { gitlab } from './gitlab.ts';

export const forges = { gitlabStatus: gitlab, giteaStatus: gitea, bitbucketStatus: bitbucket } as const satisfies Record<StatusType, Forge>;

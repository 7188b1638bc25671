import { dockerHub } from '../../../src/receive/providers/docker-hub.ts';
import { testProvider } from './conformance.ts';

testProvider({ provider: dockerHub, credentials: [] });

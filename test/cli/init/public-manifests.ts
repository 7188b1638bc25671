/** The workloads of four public demos, as their manifests have them: names, containers and images. The tags of each repository are those, and others of their form. */

/** A workload on a line: its name, its containers as `NAME=IMAGE`, and after `init` its init containers. All are Deployments, except where a line says otherwise. */
export interface PublicManifest {
  readonly name: string;
  readonly source: string;
  readonly workloads: string;
  /** The policies: name, selection, tag now, targets. */
  readonly expected: string;
}

const boutique = 'us-central1-docker.pkg.dev/online-boutique-ci/microservices-demo';
const telemetry = 'ghcr.io/open-telemetry/demo';

export const publicManifests: readonly PublicManifest[] = [
  {
    name: 'online-boutique',
    source: 'https://github.com/GoogleCloudPlatform/microservices-demo/blob/34ffea917/release/kubernetes-manifests.yaml',
    workloads: `
      frontend server=${boutique}/frontend:v0.10.6
      adservice server=${boutique}/adservice:v0.10.6
      currencyservice server=${boutique}/currencyservice:v0.10.6
      cartservice server=${boutique}/cartservice:v0.10.6
      redis-cart redis=redis:alpine
      loadgenerator main=${boutique}/loadgenerator:v0.10.6 init frontend-check=busybox:1.38.0@sha256:fd8d9aa63ba2f0982b5304e1ee8d3b90a210bc1ffb5314d980eb6962f1a9715d
      recommendationservice server=${boutique}/recommendationservice:v0.10.6
      checkoutservice server=${boutique}/checkoutservice:v0.10.6
      emailservice server=${boutique}/emailservice:v0.10.6
      paymentservice server=${boutique}/paymentservice:v0.10.6
      shippingservice server=${boutique}/shippingservice:v0.10.6
      productcatalogservice server=${boutique}/productcatalogservice:v0.10.6`,
    expected: `
      adservice: 0.10.x → v0.10.7: adservice
      cartservice: 0.10.x → v0.10.7: cartservice
      checkoutservice: 0.10.x → v0.10.7: checkoutservice
      currencyservice: 0.10.x → v0.10.7: currencyservice
      emailservice: 0.10.x → v0.10.7: emailservice
      frontend: 0.10.x → v0.10.7: frontend
      loadgenerator: 0.10.x → v0.10.7: loadgenerator
      paymentservice: 0.10.x → v0.10.7: paymentservice
      productcatalogservice: 0.10.x → v0.10.7: productcatalogservice
      recommendationservice: 0.10.x → v0.10.7: recommendationservice
      shippingservice: 0.10.x → v0.10.7: shippingservice
      busybox: 1.x → 1.38.0: loadgenerator
      redis: alpine → alpine: redis-cart`,
  },
  {
    name: 'sock-shop',
    source: 'https://github.com/microservices-demo/microservices-demo/blob/9dff06f/deploy/kubernetes/complete-demo.yaml',
    workloads: `
      carts carts=weaveworksdemos/carts:0.4.8
      carts-db carts-db=mongo
      catalogue catalogue=weaveworksdemos/catalogue:0.3.5
      catalogue-db catalogue-db=weaveworksdemos/catalogue-db:0.3.0
      front-end front-end=weaveworksdemos/front-end:0.3.12
      orders orders=weaveworksdemos/orders:0.4.7
      orders-db orders-db=mongo
      payment payment=weaveworksdemos/payment:0.4.3
      queue-master queue-master=weaveworksdemos/queue-master:0.3.1
      rabbitmq rabbitmq=rabbitmq:3.6.8-management rabbitmq-exporter=kbudde/rabbitmq-exporter
      session-db session-db=redis:alpine
      shipping shipping=weaveworksdemos/shipping:0.4.8
      user user=weaveworksdemos/user:0.4.7
      user-db user-db=weaveworksdemos/user-db:0.3.0`,
    expected: `
      carts: 0.4.x → 0.4.9: carts
      catalogue: 0.3.x → 0.3.6: catalogue
      catalogue-db: 0.3.x → 0.3.1: catalogue-db
      front-end: 0.3.x → 0.3.13: front-end
      mongo: latest → latest: carts-db orders-db
      orders: 0.4.x → 0.4.8: orders
      payment: 0.4.x → 0.4.4: payment
      queue-master: 0.3.x → 0.3.2: queue-master
      rabbitmq: 3.x-management → 3.13.7-management: rabbitmq
      rabbitmq-exporter: latest → latest: rabbitmq
      redis: alpine → alpine: session-db
      shipping: 0.4.x → 0.4.9: shipping
      user: 0.4.x → 0.4.8: user
      user-db: 0.3.x → 0.3.1: user-db`,
  },
  {
    name: 'bookinfo',
    source: 'https://github.com/istio/istio/blob/0c9b9a335743b2f363acd7ab4354639c1f1e946f/samples/bookinfo/platform/kube/bookinfo.yaml',
    workloads: `
      details-v1 details=docker.io/istio/examples-bookinfo-details-v1:1.20.1
      ratings-v1 ratings=docker.io/istio/examples-bookinfo-ratings-v1:1.20.1
      reviews-v1 reviews=docker.io/istio/examples-bookinfo-reviews-v1:1.20.1
      reviews-v2 reviews=docker.io/istio/examples-bookinfo-reviews-v2:1.20.1
      reviews-v3 reviews=docker.io/istio/examples-bookinfo-reviews-v3:1.20.1
      productpage-v1 productpage=docker.io/istio/examples-bookinfo-productpage-v1:1.20.1`,
    expected: `
      examples-bookinfo-details-v1: 1.x → 1.20.2: details-v1
      examples-bookinfo-productpage-v1: 1.x → 1.20.2: productpage-v1
      examples-bookinfo-ratings-v1: 1.x → 1.20.2: ratings-v1
      examples-bookinfo-reviews-v1: 1.x → 1.20.2: reviews-v1
      examples-bookinfo-reviews-v2: 1.x → 1.20.2: reviews-v2
      examples-bookinfo-reviews-v3: 1.x → 1.20.2: reviews-v3`,
  },
  {
    name: 'opentelemetry-demo',
    source: 'https://github.com/open-telemetry/opentelemetry-demo/blob/59c9b2ca3/kubernetes/opentelemetry-demo.yaml',
    workloads: `
      grafana grafana-sc-alerts=quay.io/kiwigrid/k8s-sidecar:1.30.10 grafana-sc-dashboard=quay.io/kiwigrid/k8s-sidecar:1.30.10 grafana-sc-datasources=quay.io/kiwigrid/k8s-sidecar:1.30.10 grafana=docker.io/grafana/grafana:12.1.1
      jaeger jaeger=jaegertracing/all-in-one:1.53.0
      otel-collector opentelemetry-collector=otel/opentelemetry-collector-contrib:0.135.0
      prometheus prometheus-server=quay.io/prometheus/prometheus:v3.6.0
      accounting accounting=${telemetry}:2.1.3-accounting init wait-for-kafka=busybox:latest
      ad ad=${telemetry}:2.1.3-ad
      cart cart=${telemetry}:2.1.3-cart init wait-for-valkey-cart=busybox:latest
      checkout checkout=${telemetry}:2.1.3-checkout init wait-for-kafka=busybox:latest
      currency currency=${telemetry}:2.1.3-currency
      email email=${telemetry}:2.1.3-email
      flagd flagd=ghcr.io/open-feature/flagd:v0.12.8 flagd-ui=${telemetry}:2.1.3-flagd-ui init init-config=busybox
      fraud-detection fraud-detection=${telemetry}:2.1.3-fraud-detection init wait-for-kafka=busybox:latest
      frontend frontend=${telemetry}:2.1.3-frontend
      frontend-proxy frontend-proxy=${telemetry}:2.1.3-frontend-proxy
      image-provider image-provider=${telemetry}:2.1.3-image-provider
      kafka kafka=${telemetry}:2.1.3-kafka
      load-generator load-generator=${telemetry}:2.1.3-load-generator
      payment payment=${telemetry}:2.1.3-payment
      postgresql postgresql=${telemetry}:2.1.3-postgresql
      product-catalog product-catalog=${telemetry}:2.1.3-product-catalog
      quote quote=${telemetry}:2.1.3-quote
      recommendation recommendation=${telemetry}:2.1.3-recommendation
      shipping shipping=${telemetry}:2.1.3-shipping
      valkey-cart valkey-cart=valkey/valkey:8.1.3-alpine
      StatefulSet/opensearch opensearch=opensearchproject/opensearch:3.2.0 init configfile=opensearchproject/opensearch:3.2.0`,
    expected: `
      demo: 2.x-accounting → 2.2.0-accounting: accounting
      ad: 2.x-ad → 2.2.0-ad: ad
      cart: 2.x-cart → 2.2.0-cart: cart
      checkout: 2.x-checkout → 2.2.0-checkout: checkout
      currency: 2.x-currency → 2.2.0-currency: currency
      email: 2.x-email → 2.2.0-email: email
      fraud-detection: 2.x-fraud-detection → 2.2.0-fraud-detection: fraud-detection
      frontend: 2.x-frontend → 2.2.0-frontend: frontend
      frontend-proxy: 2.x-frontend-proxy → 2.2.0-frontend-proxy: frontend-proxy
      image-provider: 2.x-image-provider → 2.2.0-image-provider: image-provider
      kafka: 2.x-kafka → 2.2.0-kafka: kafka
      load-generator: 2.x-load-generator → 2.2.0-load-generator: load-generator
      payment: 2.x-payment → 2.2.0-payment: payment
      postgresql: 2.x-postgresql → 2.2.0-postgresql: postgresql
      product-catalog: 2.x-product-catalog → 2.2.0-product-catalog: product-catalog
      quote: 2.x-quote → 2.2.0-quote: quote
      recommendation: 2.x-recommendation → 2.2.0-recommendation: recommendation
      shipping: 2.x-shipping → 2.2.0-shipping: shipping
      flagd: 0.12.x → v0.12.9: flagd
      demo-2: 2.x-flagd-ui → 2.2.0-flagd-ui: flagd
      busybox: latest → latest: accounting cart checkout flagd fraud-detection
      k8s-sidecar: 1.x → 1.30.11: grafana
      grafana: 12.x → 12.2.0: grafana
      all-in-one: 1.x → 1.76.0: jaeger
      opentelemetry-collector-contrib: 0.135.x → 0.135.1: otel-collector
      prometheus: 3.x → v3.7.1: prometheus
      valkey: 8.x-alpine → 8.1.9-alpine: valkey-cart
      opensearch: 3.x → 3.3.1: opensearch`,
  },
];

const telemetryParts =
  'accounting ad cart checkout currency email flagd-ui fraud-detection frontend frontend-proxy image-provider kafka load-generator payment postgresql product-catalog quote recommendation shipping';

/** The tags of the repositories; of every other one, the tag of the manifest, and the patch before and after it. */
export const publicTags: Readonly<Record<string, string>> = {
  'library/busybox': '1.37.0 1.38.0 latest',
  'library/mongo': '7.0.14 8.0.4 latest',
  'library/redis': '7.4-alpine 8.2.1-alpine alpine latest',
  'library/rabbitmq': '3.6.8-management 3.6.16-management 3.13.7 3.13.7-management 4.1.0-management',
  'kbudde/rabbitmq-exporter': '1.0.0 1.1.0 latest',
  'grafana/grafana': '12.1.1 12.2.0 12.2.0-ubuntu main',
  'jaegertracing/all-in-one': '1.53 1.53.0 1.76.0 2.11.0',
  'prometheus/prometheus': 'v2.53.5 v3.6.0 v3.7.0-rc.0 v3.7.1',
  'valkey/valkey': '8.1.3-alpine 8.1.9 8.1.9-alpine 9.0.0-alpine',
  'opensearchproject/opensearch': '2.19.3 3.2.0 3.3.1',
  'open-telemetry/demo': ['2.1.3', '2.2.0', '3.0.0']
    .flatMap((version) => telemetryParts.split(' ').map((part) => `${version}-${part}`))
    .join(' '),
};

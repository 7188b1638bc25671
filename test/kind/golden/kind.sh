# 1/8 Create the cluster image-watcher, with a kubeconfig of its own
kind get clusters   # ends here if the answer is not the expected one
kind create cluster --name image-watcher --kubeconfig /home/user/kubeconfig --config - --wait 2m <<'EOF'
kind: Cluster
apiVersion: kind.x-k8s.io/v1alpha4
nodes:
  - role: control-plane
    labels:
      created-by: npm-run-kind
EOF

# 2/8 Build the image image-watcher:try from this checkout
docker build --tag image-watcher:try .

# 3/8 Load the image into the cluster
kind load docker-image image-watcher:try --name image-watcher

# 4/8 Create the namespaces image-watcher, image-watcher-registry, shop
kubectl --kubeconfig /home/user/kubeconfig --context kind-image-watcher apply --filename - <<'EOF'
apiVersion: v1
kind: Namespace
metadata:
  name: image-watcher
  labels:
    created-by: npm-run-kind
---
apiVersion: v1
kind: Namespace
metadata:
  name: image-watcher-registry
  labels:
    created-by: npm-run-kind
---
apiVersion: v1
kind: Namespace
metadata:
  name: shop
  labels:
    created-by: npm-run-kind
EOF

# 5/8 Start a registry in the cluster, which announces every push to image-watcher
kubectl --kubeconfig /home/user/kubeconfig --context kind-image-watcher apply --filename - <<'EOF'
apiVersion: v1
kind: Secret
metadata:
  name: registry
  namespace: image-watcher-registry
stringData:
  config.yml: |-
    {
      "version": "0.1",
      "storage": {
        "filesystem": {
          "rootdirectory": "/var/lib/registry"
        }
      },
      "http": {
        "addr": ":5000"
      },
      "notifications": {
        "endpoints": [
          {
            "name": "image-watcher",
            "url": "http://image-watcher.image-watcher.svc.cluster.local/webhooks/registry",
            "headers": {
              "Authorization": [
                "Bearer a-secret"
              ]
            },
            "timeout": "1s",
            "threshold": 5,
            "backoff": "1s",
            "ignore": {
              "actions": [
                "pull",
                "mount",
                "delete"
              ],
              "mediatypes": [
                "application/octet-stream"
              ]
            }
          }
        ]
      }
    }
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: registry
  namespace: image-watcher-registry
spec:
  selector:
    matchLabels:
      app: registry
  template:
    metadata:
      labels:
        app: registry
      annotations:
        checksum/config: 03a9875e75c56873
    spec:
      containers:
        - name: registry
          image: docker.io/library/registry:2
          ports:
            - containerPort: 5000
          readinessProbe:
            httpGet:
              path: /v2/
              port: 5000
          volumeMounts:
            - name: config
              mountPath: /etc/docker/registry
              readOnly: true
      volumes:
        - name: config
          secret:
            secretName: registry
---
apiVersion: v1
kind: Service
metadata:
  name: registry
  namespace: image-watcher-registry
spec:
  type: NodePort
  selector:
    app: registry
  ports:
    - port: 5000
      targetPort: 5000
      nodePort: 30500
EOF
kubectl --kubeconfig /home/user/kubeconfig --context kind-image-watcher rollout status deployment/registry --namespace image-watcher-registry --timeout=5m

# 6/8 Install the chart
kubectl --kubeconfig /home/user/kubeconfig --context kind-image-watcher apply --filename - <<'EOF'
apiVersion: v1
kind: Secret
metadata:
  name: receivers
  namespace: image-watcher
stringData:
  REGISTRY_SECRET: a-secret
EOF
helm install image-watcher ./charts/image-watcher --kubeconfig /home/user/kubeconfig --kube-context kind-image-watcher --namespace image-watcher --values - --wait --timeout 10m <<'EOF'
image:
  repository: image-watcher
  tag: try
config:
  receivers:
    - name: registry
      provider: distribution
      secrets:
        - env: REGISTRY_SECRET
  registries:
    - host: registry.image-watcher-registry.svc.cluster.local:5000
      aliases:
        - localhost:30500
      insecure: true
envFrom:
  - secretRef:
      name: receivers
EOF
kubectl --kubeconfig /home/user/kubeconfig --context kind-image-watcher wait --for=condition=Established crd/imagepolicies.operator.technomad.dev --timeout=2m

# 7/8 Push version 1.0.0 of shop/web, and apply the README's example
kubectl --kubeconfig /home/user/kubeconfig --context kind-image-watcher run push-1-0-0 --namespace image-watcher-registry --rm --attach --restart=Never --image=gcr.io/go-containerregistry/crane -- copy --insecure registry.k8s.io/pause:3.9 registry.image-watcher-registry.svc.cluster.local:5000/shop/web:1.0.0
kubectl --kubeconfig /home/user/kubeconfig --context kind-image-watcher apply --filename - <<'EOF'
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
spec:
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
        - name: web
          image: localhost:30500/shop/web:1.0.0
---
# deploy the highest 1.x of shop/web to the Deployment "web"
apiVersion: operator.technomad.dev/v1
kind: ImagePolicy
metadata: {name: web, namespace: shop}
spec:
  image: localhost:30500/shop/web
  select: {semver: {range: ">=1 <2"}}
  targets: [{kind: Deployment, name: web}]
  rollout: {onFailure: Rollback}
EOF
kubectl --kubeconfig /home/user/kubeconfig --context kind-image-watcher wait --for=condition=Ready ipol/web --namespace shop --timeout=3m
kubectl --kubeconfig /home/user/kubeconfig --context kind-image-watcher get ipol web --namespace shop

# 8/8 Push version 1.1.0, and wait until the Deployment runs it
kubectl --kubeconfig /home/user/kubeconfig --context kind-image-watcher run push-1-1-0 --namespace image-watcher-registry --rm --attach --restart=Never --image=gcr.io/go-containerregistry/crane -- copy --insecure registry.k8s.io/pause:3.10 registry.image-watcher-registry.svc.cluster.local:5000/shop/web:1.1.0
kubectl --kubeconfig /home/user/kubeconfig --context kind-image-watcher wait '--for=jsonpath={.spec.template.spec.containers[0].image}=localhost:30500/shop/web:1.1.0' deployment/web --namespace shop --timeout=2m
kubectl --kubeconfig /home/user/kubeconfig --context kind-image-watcher wait --for=condition=Ready ipol/web --namespace shop --timeout=3m
kubectl --kubeconfig /home/user/kubeconfig --context kind-image-watcher get ipol web --namespace shop
kubectl --kubeconfig /home/user/kubeconfig --context kind-image-watcher get events --namespace shop --field-selector reason=Updated

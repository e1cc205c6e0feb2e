/* Correlated UCL as one writes it in C: one pass over the lower triangle updates the covariance (S - g g') and sums
   w_i^2 = sum_j S_ij^2 / S_jj. d is the diagonal of S; g and inverse are work space. */
#include <math.h>

static void limits(long n, double *restrict S, const double *restrict d, const double *restrict g,
                   double *restrict inverse, double *restrict w)
{
    for (long j = 0; j < n; j++) {
        inverse[j] = 1.0 / d[j];
        w[j] = d[j];
    }
    for (long i = 1; i < n; i++) {
        double *restrict row = S + i * n;
        const double g_i = g[i], inverse_i = inverse[i];
        double sum = 0.0;
        for (long j = 0; j < i; j++) {
            const double s = row[j] - g_i * g[j];
            row[j] = s;
            sum += s * s * inverse[j];
            w[j] += s * s * inverse_i;
        }
        w[i] += sum;
    }
}

void play(long n, long steps, double *restrict S, double *restrict d, double *restrict mu, double *restrict w,
          double *restrict g, double *restrict inverse, double noise_variance, const double *restrict widths,
          const double *restrict means, const double *restrict eps, int *restrict arms)
{
    const double deviation = sqrt(noise_variance);
    for (long j = 0; j < n; j++) {
        d[j] = S[j * n + j];
        g[j] = 0.0;
    }
    limits(n, S, d, g, inverse, w);
    for (long t = 0; t < steps; t++) {
        long k = 0;
        double most = -INFINITY;
        for (long i = 0; i < n; i++) {
            const double limit = mu[i] + widths[t] * sqrt(w[i]);
            if (limit > most) {
                k = i;
                most = limit;
            }
        }
        arms[t] = (int)k;
        const double total = noise_variance + d[k], scale = 1.0 / sqrt(total);
        const double gain = means[k] + deviation * eps[t] - mu[k];
        for (long j = 0; j < n; j++)
            g[j] = scale * (j < k ? S[k * n + j] : j > k ? S[j * n + k] : d[k]);
        for (long j = 0; j < n; j++) {
            mu[j] += g[j] * scale * gain;
            d[j] -= g[j] * g[j];
        }
        limits(n, S, d, g, inverse, w);
    }
}

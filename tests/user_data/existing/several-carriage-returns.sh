#!/bin/bash
echo one
echo two

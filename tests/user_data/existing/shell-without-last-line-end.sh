#!/bin/bash
echo no line end